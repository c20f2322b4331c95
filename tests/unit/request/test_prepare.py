"""What stands at the front of every verb: arguments that mean nothing are refused, with the nearest that does."""

from __future__ import annotations

import pytest
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.core.errors import InputError, UnknownName


@pytest.mark.parametrize("verb", [unseen.assess, unseen.run, unseen.diagnose, unseen.distribution])
@pytest.mark.parametrize(
    ("name", "advice"), [("rando_state", "did you mean 'random_state'"), ("group", "did you mean 'groups'")]
)
def test_misspelt_arguments_are_refused_with_the_nearest_name(verb, name, advice):
    data = unseen.datasets.load("iris")
    for sample in ((data,), data.xy):
        with pytest.raises(UnknownName, match=advice):
            verb(GaussianNB(), *sample, **{name: 1})


@pytest.mark.parametrize("more", [{"y": [1, 2]}, {"groups": [1, 2]}, {"task": "regression"}])
def test_columns_beside_a_data_object_are_refused(more):
    with pytest.raises(InputError, match=f"{next(iter(more))} came with a Data object"):
        unseen.assess(GaussianNB(), unseen.datasets.load("iris"), **more)
