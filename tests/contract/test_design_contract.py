"""Every registered design keeps the contract of designs."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.core.registry import classes_in
from unseen.testing import DESIGN_CHECKS

PAIRS = tuple((np.setdiff1d(np.arange(40), test), test) for test in np.split(np.arange(40), 4))
GIVEN = {"splits": {"source": PAIRS}}
# What a user gives is taken as it comes: nothing can be redrawn, and sizes are the user's.
BEYOND_GIVEN = {
    "splits": {"every_class_is_trained", "tiny_samples_are_refused_or_split", "groups_stay_whole", "is_described"}
}


@pytest.mark.parametrize("check", DESIGN_CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", classes_in("designs"))
def test_design(name, check):
    if check.__name__ in BEYOND_GIVEN.get(name, ()):
        pytest.skip("splits given by a user are taken as they come")
    check(classes_in("designs")[name](**GIVEN.get(name, {})))
