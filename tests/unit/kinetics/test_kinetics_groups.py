from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import unseen
from unseen.core.errors import InputError
from unseen.kinetics.group_comparison import differences, smallest_p, statistics

kinetics = unseen.kinetics


def fitted(groups, subjects=10, seed=0):
    made = kinetics.simulate(subjects, groups=groups, between=0.15, noise=0.02, random_state=seed)
    return kinetics.fit(made.ttr, made.doses, locations=["EC-EC"], outliers=None)


@pytest.fixture(scope="module")
def different():
    return fitted({"a": {}, "b": {"k02": 2.5}})


@pytest.mark.slow
@pytest.mark.sample
def test_a_real_difference_is_found_and_named(different):
    result = kinetics.compare_groups(different, group="group", permutations=39, random_state=1)
    k02 = next(f for f in result.features if f.name == "k02")
    assert k02.adjusted <= 0.05
    assert k02.means["b"] / k02.means["a"] == pytest.approx(2.5, rel=0.35)
    assert result.estimates["loo"].value <= 0.2
    assert result.chance == pytest.approx(0.5)
    assert result.estimates["bolster"].value < result.chance
    assert result.decided_by == "loo"
    assert result.p_value <= 0.05
    assert "k02" in str(result)
    assert any(n.code == "U009" for n in result.notes)


@pytest.mark.slow
@pytest.mark.sample
def test_groups_too_small_for_a_small_p_value_are_told():
    """Three against three: 20 ways to deal them, two of which part them alike, so that p is a tenth at best."""
    assert smallest_p([3, 3]) == pytest.approx(0.1)
    assert smallest_p([3, 4]) == pytest.approx(1 / 35)
    assert smallest_p([3, 3, 3]) == pytest.approx(6 / 1680)
    study = fitted({"a": {}, "b": {"k02": 4.0}}, subjects=6)
    result = kinetics.compare_groups(study, group="group", methods=("resub",), permutations=199, random_state=0)
    assert min(f.p_value for f in result.features) == pytest.approx(0.1, abs=0.05)
    assert any("no p-value below about 0.1" in n.text for n in result.notes)


@pytest.mark.slow
@pytest.mark.sample
def test_no_difference_gives_no_small_p_value():
    result = kinetics.compare_groups(fitted({"a": {}, "b": {}}, seed=3), group="group", permutations=99, random_state=1)
    assert min(f.adjusted for f in result.features) > 0.05
    assert result.p_value > 0.05


@pytest.mark.slow
@pytest.mark.sample
def test_the_same_seed_gives_the_same_answer(different):
    one, two = (kinetics.compare_groups(different, group="group", permutations=19, random_state=4) for _ in range(2))
    assert one.to_dict()["p_value"] == two.to_dict()["p_value"]
    assert one.rows() == two.rows()


def test_statistics_against_scipy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    labels = np.array(list("aaaaabbbbbbb"))
    welch = stats.ttest_ind(X[labels == "a"], X[labels == "b"], equal_var=False).statistic
    np.testing.assert_allclose(statistics(X, labels), welch, rtol=1e-12)
    three = np.array(list("aaaabbbbcccc"))
    wanted = stats.f_oneway(X[three == "a"], X[three == "b"], X[three == "c"]).statistic
    np.testing.assert_allclose(statistics(X, three), wanted, rtol=1e-10)


def test_adjusted_p_values_bound_the_raw_ones():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((14, 5))
    labels = np.repeat(["a", "b"], 7)
    orders = [rng.permutation(14) for _ in range(99)]
    for f in differences(list("vwxyz"), X, labels, orders):
        assert 0.01 <= f.p_value <= f.adjusted <= 1


@pytest.mark.slow
@pytest.mark.sample
def test_bad_groups_are_refused(different):
    with pytest.raises(InputError, match="no 'diet'"):
        kinetics.compare_groups(different, group="diet")
    with pytest.raises(InputError, match="permutations"):
        kinetics.compare_groups(different, group="group", permutations=5)
    with pytest.raises(InputError, match="one value only"):
        kinetics.compare_groups(fitted({"a": {}}, subjects=4), group="group")
    with pytest.raises(InputError, match="fewer than 3"):
        kinetics.compare_groups(fitted({"a": {}, "b": {}}, subjects=5), group="group")


@pytest.mark.parametrize(
    ("groups", "wrong", "words"),
    [
        (["a", "b"] * 3, {"group": "diet"}, "gives no 'diet' for s1, s2, s3, s4, s5; its further columns are group"),
        (["a", "b"] * 2 + ["a", ""], {}, "gives no 'group' for s6"),
        (["a"] * 6, {}, "one value only"),
        (["a"] * 5 + ["b"], {}, "fewer than 3"),
        (["a", "b"] * 3, {"permutations": 5}, "permutations is 5"),
        (["a", "b"] * 3, {"methods": ()}, "methods is empty"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_fit(monkeypatch, groups, wrong, words):
    made = kinetics.simulate(6, random_state=0)
    monkeypatch.setattr("unseen.kinetics.group_comparison.fit", lambda *a, **k: pytest.fail("subjects were fitted"))
    with pytest.raises(InputError, match=words):
        kinetics.compare_groups(made.ttr, {**made.doses, "group": groups}, **{"group": "group", **wrong})


def test_a_small_group_is_no_reason_to_refuse_before_the_fit(monkeypatch):
    """Its subjects may fail, and then the others can be compared."""
    made = kinetics.simulate(7, random_state=0)
    fitting = pytest.raises(RuntimeError, match="fitted now")
    monkeypatch.setattr(
        "unseen.kinetics.group_comparison.fit", lambda *a, **k: (_ for _ in ()).throw(RuntimeError("fitted now"))
    )
    with fitting:
        kinetics.compare_groups(made.ttr, {**made.doses, "diet": ["a", "b"] * 3 + ["c"]}, group="diet")
