"""Records made again from their plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from unseen.core.arrays import Floats
from unseen.core.errors import InputError
from unseen.core.estimate import CalibratedEstimate, Estimate, Interval, Target
from unseen.core.notes import note
from unseen.core.result import from_dict
from unseen.core.summary import Summary, summarize

ESTIMATE = CalibratedEstimate(
    value=0.25,
    std_error=None,
    interval=Interval(0.125, 0.5, 0.95),
    df=None,
    method="calibrated-bolster",
    target=Target.MODEL.at(40),
    loss="zero-one",
    n_units=40,
    n_fits=5,
    notes=(note("U016", "a remark"),),
    contributions=np.array([0.5, 0.0]),
    curve=np.array([[1.0, 0.5, np.nan]]),
    kappa=2.0,
)


@dataclass(frozen=True)
class Bare:
    found: Floats


def through_json(record):
    return json.loads(json.dumps(record.to_dict()))


def test_an_estimate_comes_back_with_arrays_interval_target_and_notes():
    again = from_dict(CalibratedEstimate, through_json(ESTIMATE))
    assert again.interval == ESTIMATE.interval
    assert again.target == ESTIMATE.target
    assert again.contributions.tolist() == [0.5, 0.0]
    np.testing.assert_array_equal(again.curve, ESTIMATE.curve)
    assert np.isnan(again.calibration_error)
    assert through_json(again) == through_json(ESTIMATE)


def test_fields_that_are_not_there_keep_their_defaults_and_others_are_left_out():
    values = {k: v for k, v in through_json(ESTIMATE).items() if k != "seconds"} | {"agrees": True}
    assert from_dict(Estimate, values).seconds == 0.0


def test_a_whole_number_is_a_float_where_the_field_is_one():
    made = from_dict(Summary, through_json(replace(summarize([0.1, 0.3], [0.2, 0.2]), bias=0.0)) | {"bias": 0})
    assert isinstance(made.bias, float)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": 3}, "Estimate.method is '3'; it must be a str"),
        ({"value": "high"}, "Estimate.value is 'high'; it must be a float"),
        ({"interval": [0.1]}, "Interval is made from a mapping of its fields; given: list"),
        ({"notes": 5}, "Estimate.notes cannot be made from '5'"),
        ({"n_fits": "many"}, "Estimate.n_fits is 'many'; it must be a int"),
        ({"notes": "long"}, "Estimate.notes cannot be made from 'long'"),
        ({"value": 10**400}, "Estimate.value cannot be made from '1000"),
    ],
)
def test_values_of_another_kind_are_refused_by_name(change, message):
    with pytest.raises(InputError, match=message):
        from_dict(Estimate, through_json(ESTIMATE) | change)


@pytest.mark.parametrize("values", [["0.5", 0.0], [True, 0.0], [[0.5], 0.0], [{}], "long", None, 0.5])
def test_an_array_is_made_from_lists_of_numbers_only(values):
    with pytest.raises(InputError, match=r"Bare\.found cannot be made from"):
        from_dict(Bare, {"found": values})


def test_what_is_of_the_type_of_its_field_stays():
    found = np.array([1.0, 2.0])
    assert from_dict(Bare, {"found": found}).found is found
    values = through_json(ESTIMATE) | {"interval": ESTIMATE.interval}
    assert from_dict(Estimate, values).interval is ESTIMATE.interval


def test_a_missing_field_is_named():
    with pytest.raises(InputError, match=r"Interval\.level is missing"):
        from_dict(Interval, {"low": 0.0, "high": 1.0})
