"""A contract suite that passes everything is worth nothing: each rule catches a class that breaks it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from unseen.core.estimate import Estimate, Interval
from unseen.core.method import check_table, point_estimate
from unseen.core.notes import note
from unseen.core.plan import Split
from unseen.designs.drawing import make_plan
from unseen.designs.kfold import KFold
from unseen.engine.run import execute
from unseen.estimators.corrected_t import CorrectedT
from unseen.estimators.gcv import Gcv
from unseen.measures import rates
from unseen.measures.rates import Sensitivity
from unseen.measures.regression import Squared
from unseen.resubstitution.methods.auto_resub import AutoResub
from unseen.significance.mcnemar import McNemar
from unseen.testing import designs, direct_methods, engines, measures, pair_tests, recipes, table_methods
from unseen.testing._describe import check_described


class Narrowing(CorrectedT):
    def __call__(self, table, *, level=0.95):
        return super().__call__(table, level=1 - level)


class Ordered(CorrectedT):
    def __call__(self, table, *, level=0.95):
        e = super().__call__(table, level=level)
        return replace(e, value=e.value + 1e-3 * float(table.test.value[0]) + 1e-6 * float(table.test.row[0]))


class Unbounded(CorrectedT):
    def __call__(self, table, *, level=0.95):
        return replace(super().__call__(table, level=level), interval=Interval(-0.5, 2.0, level))


class Unchecked(CorrectedT):
    def __call__(self, table, *, level=0.95):
        return point_estimate(self, table, float(table.split_means().mean()))


class Unweighted(CorrectedT):
    weighted: ClassVar[bool] = True

    def __call__(self, table, *, level=0.95):
        level = check_table(self, table, level)
        return point_estimate(self, table, float(table.test.value.mean()))


class Quadratic(CorrectedT):
    def __call__(self, table, *, level=0.95):
        level = check_table(self, table, level)
        return point_estimate(self, table, float(np.square(table.split_means()).mean()))


class OffCentre(CorrectedT):
    def __call__(self, table, *, level=0.95):
        e = super().__call__(table, level=level)
        return replace(e, value=e.interval.high + 0.1)


class LevelBlind(CorrectedT):
    def __call__(self, table, *, level=0.95):
        e = super().__call__(table, level=0.9)
        return replace(e, interval=replace(e.interval, level=level))


@pytest.mark.parametrize(
    ("cls", "check"),
    [
        (Narrowing, table_methods.wider_at_a_higher_level),
        (LevelBlind, table_methods.wider_at_a_higher_level),
        (Ordered, table_methods.order_of_rows_is_free),
        (Unbounded, table_methods.interval_is_in_range),
        (Unchecked, table_methods.foreign_design_is_refused),
        (Unchecked, table_methods.level_is_checked),
        (Unweighted, table_methods.weights_are_used_or_refused),
        (Quadratic, table_methods.differences_are_right_or_refused),
        (Quadratic, table_methods.shift_and_scale_carry_over),
        (OffCentre, table_methods.value_is_inside),
        (Unchecked, table_methods.is_described),
    ],
)
def test_bad_table_methods_are_caught(cls, check):
    with pytest.raises(AssertionError):
        check(cls())
    if check is not table_methods.is_described:
        check(CorrectedT())


@dataclass(frozen=True)
class RowsNotGroups(KFold):
    def plan(self, data, rng):
        folds = rng.permutation(data.n) % 5
        splits = [Split(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)]
        return make_plan(self, data, splits)


@dataclass(frozen=True)
class Overlapping(KFold):
    def plan(self, data, rng):
        return make_plan(self, data, [Split(np.arange(data.n), np.arange(data.n // 2))])


@dataclass(frozen=True)
class Moody(KFold):
    def plan(self, data, rng):
        return super().plan(data, np.random.default_rng())


@dataclass(frozen=True)
class ClassBlind(KFold):
    def plan(self, data, rng):
        rows = np.arange(data.n)
        rare = data.y == np.max(data.y) if data.task == "classification" else rows < 3
        return make_plan(self, data, [Split(rows[~rare], rows[rare])])


@pytest.mark.parametrize(
    ("cls", "check"),
    [
        (RowsNotGroups, designs.groups_stay_whole),
        (Overlapping, designs.splits_are_sound),
        (Moody, designs.same_seed_same_plan),
        (ClassBlind, designs.every_class_is_trained),
        (RowsNotGroups, designs.is_described),
    ],
)
def test_bad_designs_are_caught(cls, check):
    with pytest.raises(AssertionError):
        check(cls())
    check(KFold())


class WrongRate(Squared):
    def no_information(self, y, value, score=None):
        return float(y.var() + value.var())


class Signed(Squared):
    def per_example(self, y, value, score=None):
        return y - value


class Ranked(Squared):
    def per_example(self, y, value, score=None):
        return np.argsort(np.argsort(np.square(y - value))).astype(float)


@pytest.mark.parametrize(
    ("cls", "check"),
    [
        (WrongRate, measures.no_information_is_the_mean_over_pairs),
        (Signed, measures.losses_are_in_range),
        (Ranked, measures.examples_stand_alone),
    ],
)
def test_bad_measures_are_caught(cls, check):
    with pytest.raises(AssertionError):
        check(cls())
    check(Squared())


class WrongWeights(Sensitivity):
    def of_weights(self, y, value, score, weights, positive=1):
        return np.full(len(weights), self.of_set(y, value, score))

    def of_set(self, y, value, score=None, weight=None, positive=1):
        return float(np.mean(value[y == positive] == positive))


def test_a_measure_that_ignores_weights_is_caught():
    with pytest.raises(AssertionError, match="with weights"):
        measures.whole_weights_are_copies(WrongWeights())
    measures.whole_weights_are_copies(Sensitivity())


@pytest.mark.parametrize(
    ("module", "id", "words"),
    [
        ("unseen.measures.rates", "recall", "not in the FAMILY of rates.py"),
        ("unseen.measures.brier", "squared-distance", "its file is squared_distance.py"),
    ],
)
def test_a_method_in_a_file_that_does_not_name_it_is_caught(module, id, words):
    stray = type("Stray", (Sensitivity,), {"id": id, "__module__": module})
    with pytest.raises(AssertionError, match=words):
        check_described(stray)


def test_a_family_that_lists_more_than_its_file_holds_is_caught(monkeypatch):
    check_described(Sensitivity)
    monkeypatch.setattr(rates, "FAMILY", (*rates.FAMILY, "recall"))
    with pytest.raises(AssertionError, match=r"FAMILY of rates\.py"):
        check_described(Sensitivity)


@dataclass(frozen=True)
class Noisy(Gcv):
    def __call__(self, model: Any, data: Any, *, rng: Any, level: float = 0.95) -> Estimate:
        e = super().__call__(model, data, rng=rng, level=level)
        return replace(e, value=e.value + float(data.y[0]), interval=Interval(-1.0, 1.0, level))


@pytest.mark.parametrize("check", [direct_methods.order_of_rows_is_free, direct_methods.interval_is_in_range])
def test_bad_direct_methods_are_caught(check):
    with pytest.raises(AssertionError):
        check(Noisy())
    check(Gcv())


def remark(e: Estimate) -> Estimate:
    return replace(e, notes=(*e.notes, note("U022", "the method does not declare this one")))


class RemarkingTable(CorrectedT):
    def __call__(self, table, *, level=0.95):
        return remark(super().__call__(table, level=level))


class RemarkingDirect(Gcv):
    def __call__(self, model, data, *, rng, level=0.95):
        return remark(super().__call__(model, data, rng=rng, level=level))


class RemarkingTest(McNemar):
    def __call__(self, a, b, *, level=0.95):
        made = super().__call__(a, b, level=level)
        return replace(made, estimate=remark(made.estimate))


class RemarkingRecipe(AutoResub):
    def __call__(self, parts, *, level=0.95):
        return remark(super().__call__(parts, level=level))


@pytest.mark.parametrize(
    ("cls", "suite"),
    [
        (RemarkingTable, table_methods),
        (RemarkingDirect, direct_methods),
        (RemarkingTest, pair_tests),
        (RemarkingRecipe, recipes),
    ],
)
def test_an_undeclared_note_is_caught(cls, suite):
    with pytest.raises(AssertionError, match=r"undeclared notes: \['U022'\]"):
        suite.notes_are_declared(cls())
    declaring = type(cls.__name__, (cls,), {"note_codes": cls.note_codes | {"U022"}})
    suite.notes_are_declared(declaring())


def test_a_declared_code_that_means_nothing_is_caught():
    vague = type("Vague", (Gcv,), {"note_codes": Gcv.note_codes | {"U999"}})
    with pytest.raises(AssertionError, match=r"without a meaning: \['U999'\]"):
        direct_methods.notes_are_declared(vague())


def shaken(model, data, plan, *, seed, n_jobs=None, **options):
    return execute(model, data, plan, seed=seed + (n_jobs or 0), **options)


def hiding_failures(model, data, plan, **options):
    return replace(execute(model, data, plan, **options), failures=())


def shifted(model, data, plan, **options):
    table = execute(model, data, plan, **options)
    return replace(table, test=replace(table.test, value=np.roll(table.test.value, 1)))


@pytest.mark.parametrize(
    ("engine", "check"),
    [
        (shaken, engines.workers_do_not_matter),
        (hiding_failures, engines.failures_become_rows),
        (shifted, engines.predictions_are_of_the_right_rows),
    ],
)
def test_bad_engines_are_caught(engine, check):
    with pytest.raises(AssertionError):
        check(engine)
