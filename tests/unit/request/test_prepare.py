"""What stands at the front of every public function: arguments that it does not have are refused."""

from __future__ import annotations

import pytest
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.core.errors import InputError


@pytest.mark.parametrize(
    "function", [unseen.assess, unseen.run, unseen.diagnose, unseen.distribution, unseen.resubstitute]
)
@pytest.mark.parametrize("name", ["rando_state", "group"])
def test_misspelt_arguments_are_refused(function, name):
    data = unseen.datasets.load("iris")
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        function(GaussianNB(), data, **{name: 1})


@pytest.mark.parametrize("more", [{"y": [1, 2]}, {"groups": [1, 2]}, {"task": "regression"}])
def test_columns_beside_a_data_object_are_refused(more):
    with pytest.raises(InputError, match=f"{next(iter(more))} came with a Data object"):
        unseen.assess(GaussianNB(), unseen.datasets.load("iris"), **more)
