from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError
from unseen.core.rng import stream, task_seed
from unseen.datasets.populations import GaussianBlocks
from unseen.study.populations import FinitePopulation, open_source, source_of
from unseen.study.spec import StudySpec
from unseen.study.task import run_group
from unseen.study.trial import TrialSample

SPEC = {
    "name": "s", "seed": 3, "sizes": [20, 30], "replications": 2, "n_test": 300,
    "populations": ["gaussian-blocks", {"data": "iris"}],
    "models": ["knn:3", "cart"],
    "methods": ["resub", "posterior", "holdout", "kfold", {"id": "bolster", "options": {"n_mc": 10}}],
    "comparisons": [{"model_a": "knn:3", "model_b": "cart"}, {"model_a": "knn:3", "model_b": "cart", "test": "mcnemar"}],
}  # fmt: skip


def timeless(results):
    return [replace(r, seconds=0.0) for r in results]


@pytest.fixture(scope="module")
def whole():
    spec = StudySpec.of(SPEC)
    cells, rows = spec.cells(), list(spec.tasks())
    return spec.to_dict(), cells, rows, timeless(run_group(spec.to_dict(), cells, rows))


def of(whole, replication=0, **wanted):
    _, cells, rows, results = whole
    found = [
        r
        for row, r in zip(rows, results)
        if row.replication == replication and all(cells[row.cell][k] == v for k, v in wanted.items())
    ]
    assert len(found) == 1
    return found[0]


def test_every_task_is_answered_in_order(whole):
    _, _, rows, results = whole
    assert [r.task for r in results] == [row.id for row in rows]
    assert not [r.reason for r in results if r.reason]
    assert all(np.isfinite([r.estimate, r.truth]).all() for r in results)


def test_numbers_do_not_depend_on_grouping_or_order(whole):
    spec, cells, rows, results = whole
    order = np.random.default_rng(0).permutation(len(rows))[:24]
    alone = [run_group(spec, cells, [rows[k]])[0] for k in order]
    assert timeless(alone) == [results[k] for k in order]
    mixed = run_group(spec, cells, [rows[k] for k in order])
    assert timeless(mixed) == [results[k] for k in order]


def test_tasks_travel_between_processes(whole):
    spec, cells, rows, results = pickle.loads(pickle.dumps(whole))
    assert timeless(pickle.loads(pickle.dumps(run_group))(spec, cells, rows[:6])) == results[:6]


def test_all_models_and_methods_see_the_same_sample_and_truth(whole):
    base = {"population": "gaussian-blocks", "n": 20}
    truths = {of(whole, model="knn:3", method=m, **base).truth for m in ("resub", "holdout", "kfold", "bolster")}
    assert len(truths) == 1
    pair = of(whole, model="knn:3 - cart", method="mcnemar", **base)
    other = of(whole, model="cart", method="resub", **base)
    assert pair.truth == truths.pop() - other.truth


def test_the_sample_follows_from_seed_population_size_and_replication_alone():
    source = source_of({"id": "gaussian-blocks"})
    settings = {"loss": "auto", "level": 0.95, "n_test": 100, "internal": 0}
    samples = {
        key: TrialSample(source=source, n=key[0], seed=key[1], replication=key[2], settings=settings).data.X
        for key in [(20, 3, 0), (20, 3, 1), (20, 4, 0)]
    }
    again = TrialSample(source=source, n=20, seed=3, replication=0, settings=settings | {"level": 0.5}).data.X
    np.testing.assert_array_equal(samples[20, 3, 0], again)
    assert not np.array_equal(samples[20, 3, 0], samples[20, 3, 1])
    assert not np.array_equal(samples[20, 3, 0], samples[20, 4, 0])


def test_resubstitution_and_truth_are_what_they_say(whole):
    """Draw the same sample by hand, fit the same tree, and look up its errors."""
    from unseen.request.prepare import model_of

    source = source_of({"id": "gaussian-blocks"})
    place = '{"id":"gaussian-blocks","options":{},"version":1}'
    data = GaussianBlocks().draw(30, stream(3, "sample", place, 30, 1))
    run_seed = int(stream(3, "run", place, 30, 1).integers(2**63))
    fitted = model_of("cart", data).fit(data, task_seed(run_seed, "fit", "full"))
    result = of(whole, 1, population="gaussian-blocks", n=30, model="cart", method="resub")
    assert result.estimate == np.mean(fitted.predict(data.X) != data.y)
    fresh = source.population.draw(300, stream(3, "truth", place, 30, 1))
    assert result.truth == np.mean(fitted.predict(fresh.X) != fresh.y)
    verb = unseen.estimate("cart", data, method="kfold", random_state=run_seed)
    assert of(whole, 1, population="gaussian-blocks", n=30, model="cart", method="kfold").estimate == verb.value


def test_a_held_out_model_is_judged_by_its_own_true_error(whole):
    """The one model of a hold-out split is fitted again exactly as the engine did, and its error looked up."""
    import json

    result = of(whole, population="gaussian-blocks", n=30, model="knn:3", method="holdout")
    told = json.loads(result.extra)
    source = source_of({"id": "gaussian-blocks"})
    sample = TrialSample(
        source=source,
        n=30,
        seed=3,
        replication=0,
        settings={"loss": "auto", "level": 0.95, "n_test": 300, "internal": 0},
    )
    errors = {}

    def look(fitted, train, test):
        errors[train.n] = sample.error(fitted)
        return errors[train.n]

    unseen.run("knn:3", sample.data, design="holdout", random_state=sample.run_seed, probes={"truth": look}, n_jobs=1)
    assert told == {"kind": "model", "n1": 20, "target": errors[20]}


def test_targets_of_algorithms_are_drawn_at_their_own_size(whole):
    import json

    told = json.loads(of(whole, population="gaussian-blocks", n=30, model="knn:3", method="kfold").extra)
    assert (told["kind"], told["n1"]) == ("algorithm", 27)
    assert of(whole, population="gaussian-blocks", n=30, model="knn:3", method="resub").extra == ""


def test_a_failing_method_gives_its_reason_and_spares_the_others():
    spec = StudySpec.of({**SPEC, "populations": ["gaussian-blocks"], "comparisons": [], "methods": ["resub", "fpe"]})
    rows = list(spec.tasks())[:2]
    good, bad = run_group(spec.to_dict(), spec.cells(), rows)
    assert good.reason == ""
    assert "closed form for regression" in bad.reason
    assert bad.estimate is None


POPULATION = '''
import numpy as np
from unseen.datasets import as_data

class Coin:
    """Labels that no feature tells anything about: every rule errs half the time."""
    version = 2
    def __init__(self, width=1):
        self.width = width
    def draw(self, n, rng):
        y = np.arange(n) % 2
        return as_data(rng.standard_normal((n, self.width)), rng.permutation(y), task="classification")
    def true_error(self, predict, rng, n_test=5000):
        return 0.5

class Empty:
    pass

class Wrong(Coin):
    def draw(self, n, rng):
        raise KeyError("oh")
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "study_population_of_mine.py").write_text(POPULATION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "study_population_of_mine"
    sys.modules.pop("study_population_of_mine", None)


def test_a_population_of_ones_own(mine):
    content = {**SPEC, "populations": [{"factory": f"{mine}:Coin", "options": {"width": 2}}], "comparisons": []}
    spec = StudySpec.of(content)
    cells = spec.cells()
    assert cells[0]["source"] == {"factory": f"{mine}:Coin", "options": {"width": 2}, "version": 2}
    results = run_group(spec.to_dict(), cells, list(spec.tasks())[:5])
    assert {r.truth for r in results} == {0.5}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Empty", "without draw and true_error"),
        ("Nothing", "unknown name in"),
        ("Wrong", "drawing 30 rows failed: KeyError"),
    ],
)
def test_a_class_that_is_no_population_is_refused(mine, name, message):
    with pytest.raises(InputError, match=message):
        StudySpec.of({**SPEC, "populations": [{"factory": f"{mine}:{name}"}]})


def test_finite_populations_test_on_the_rest():
    data = unseen.datasets.load("iris")
    sample, rest = FinitePopulation(data, {}).draw(40, np.random.default_rng(1))
    rows = {tuple(r) for r in np.round(sample.X, 9)}
    assert sample.n + rest.n == data.n
    together = np.sort(np.concatenate([sample.X, rest.X]), axis=0)
    np.testing.assert_array_equal(together, np.sort(data.X, axis=0))
    assert min(np.bincount(sample.codes)) >= 2
    assert rows


def test_finite_truth_is_the_error_on_the_rest():
    source = source_of({"data": "iris"})
    sample = TrialSample(
        source=source,
        n=30,
        seed=0,
        replication=0,
        settings={"loss": "auto", "level": 0.95, "n_test": 10, "internal": 0},
    )
    subject = sample.model("lda")
    wrong = subject.fitted.predict(sample.rest.X) != sample.rest.y
    assert subject.truth == wrong.mean()
    assert len(wrong) == 120


def test_small_training_sizes_of_many_classes_still_have_a_target():
    """5x2cv on 12 flowers of 3 kinds trains on 6: a sample of 6 rows must not need two of every kind."""
    spec = StudySpec.of(
        {
            **SPEC,
            "populations": [{"data": "iris"}],
            "sizes": [12],
            "models": ["cart"],
            "methods": ["5x2cv"],
            "comparisons": [],
        }
    )
    results = run_group(spec.to_dict(), spec.cells(), list(spec.tasks()))
    assert not [r.reason for r in results if r.reason]
    assert '"n1": 6' in results[0].extra


def test_columns_can_be_left_out(tmp_path):
    rows = "".join(f"r{k},{k % 7},{'ab'[k % 2]}\n" for k in range(60))
    (tmp_path / "rows.csv").write_text(f"name,u,kind\n{rows}")
    part = {"data": "rows.csv", "target": "kind", "drop": ["name"]}
    source = source_of(part, str(tmp_path))
    assert source.data.n_features == 1
    assert open_source(source.key, str(tmp_path)).key == source.key


def test_a_changed_population_is_refused():
    key = dict(source_of({"data": "iris"}).key)
    assert open_source(key).key == key
    with pytest.raises(InputError, match="iris is not what it was"):
        open_source({**key, "fingerprint": "0"})
    with pytest.raises(InputError, match="ar-linear is not what it was"):
        open_source({"id": "ar-linear", "options": {}, "version": 0})


def test_other_losses_are_judged_by_the_same_loss():
    content = {
        **SPEC,
        "populations": ["ar-linear"],
        "models": ["ols"],
        "methods": ["kfold"],
        "comparisons": [],
        "loss": "absolute",
    }
    spec = StudySpec.of(content)
    result = run_group(spec.to_dict(), spec.cells(), list(spec.tasks())[:1])[0]
    squared = StudySpec.of({**content, "loss": "auto"})
    other = run_group(squared.to_dict(), squared.cells(), list(squared.tasks())[:1])[0]
    assert 0 < result.truth < np.sqrt(other.truth) * 1.2
    log = StudySpec.of(
        {
            **SPEC,
            "populations": ["gaussian-blocks"],
            "models": ["logistic"],
            "methods": ["kfold"],
            "comparisons": [],
            "loss": "log-loss",
        }
    )
    found = run_group(log.to_dict(), log.cells(), list(log.tasks())[:1])[0]
    assert found.reason == ""
    assert 0.2 < found.truth < 3


def test_internal_runs_change_the_spread_only():
    content = {
        **SPEC,
        "populations": ["gaussian-blocks"],
        "models": ["cart"],
        "methods": ["kfold", "resub"],
        "comparisons": [],
    }
    without, with_runs = (StudySpec.of({**content, "internal": k}) for k in (0, 4))
    plain = run_group(without.to_dict(), without.cells(), list(without.tasks())[:2])
    more = run_group(with_runs.to_dict(), with_runs.cells(), list(with_runs.tasks())[:2])
    assert [r.estimate for r in plain] == [r.estimate for r in more]
    assert plain[0].spread is None
    assert more[0].spread > 0
    assert more[1].spread == 0


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize(("population", "model"), [("gaussian-blocks", "lda"), ("ar-linear", "ols")])
def test_every_method_runs_in_a_study_or_says_why_not(population, model):
    """A new method is found here without an edit; what it cannot do it must refuse in its own words."""
    from unseen.core.registry import classes_in

    methods = [*classes_in("estimators"), *classes_in("resubstitution")]
    content = {"name": "s", "sizes": [30], "replications": 2, "n_test": 100, "models": [model], "methods": methods}
    spec = StudySpec.of({**content, "populations": [population]})
    cells = spec.cells()
    rows = list(spec.tasks())[: len(cells)]
    results = run_group(spec.to_dict(), cells, rows)
    reasons = {cells[row.cell]["method"]: r.reason for row, r in zip(rows, results) if r.reason}
    assert len(reasons) < len(methods) / 2
    assert not [reason for reason in reasons.values() if reason.split(":")[0].endswith(("Error", "Exception"))], reasons
    done = [r for r in results if not r.reason]
    assert all(np.isfinite([r.estimate, r.truth]).all() for r in done)
