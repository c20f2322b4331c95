"""Files of predictions: numbers against closed forms and scipy, every way to read them, and every refusal."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unseen
from unseen.core.errors import InputError, UnknownName


def files(n=60, seed=0, shuffle=True):
    rng = np.random.default_rng(seed)
    y = rng.choice(["cat", "dog", "eel"], n)
    item = [f"q{k}" for k in range(n)]
    a = pd.DataFrame(
        {"item": item, "y": y, "yhat": np.where(rng.random(n) < 0.8, y, "cat"), "topic": np.arange(n) // 6}
    )
    b = pd.DataFrame(
        {"item": item, "y": y, "yhat": np.where(rng.random(n) < 0.6, y, "dog"), "topic": np.arange(n) // 6}
    )
    return a, (b.sample(frac=1, random_state=1) if shuffle else b)


def ask(*sources, **more):
    return unseen.predictions(*sources, **{"truth": "y", "pred": "yhat", "id": "item", **more})


def test_one_file_gives_the_wilson_interval():
    a, _ = files()
    r = ask(a)
    wrong = int((a.y != a.yhat).sum())
    ends = stats.binomtest(wrong, 60).proportion_ci(0.95, method="wilson")
    (e,) = r.estimates.values()
    assert e.value == wrong / 60
    assert tuple(e.interval) == pytest.approx((ends.low, ends.high), abs=1e-12)
    assert str(e.target) == "this model"
    assert r.pairs == r.tests == ()


def test_two_files_are_joined_by_id_whatever_their_order():
    a, b = files()
    r = ask({"a": a, "b": b})
    both = a.merge(b, on="item", suffixes=("", "_b"))
    d = (both.y != both.yhat).astype(float) - (both.y != both.yhat_b).astype(float)
    one = r["a", "b"]
    t = stats.ttest_rel((both.y != both.yhat).astype(float), (both.y != both.yhat_b).astype(float))
    assert one.difference == pytest.approx(d.mean())
    assert one.p == pytest.approx(t.pvalue, rel=1e-10)
    assert tuple(one.interval) == pytest.approx(tuple(t.confidence_interval(0.95)), abs=1e-12)
    assert r["b", "a"].difference == -one.difference


def test_mcnemar_and_permutation_are_the_binomial_test_of_discordant_rows():
    a, b = files()
    r = ask({"a": a, "b": b})
    both = a.merge(b, on="item", suffixes=("", "_b"))
    wrong_a, wrong_b = both.y != both.yhat, both.y != both.yhat_b
    p = stats.binomtest(int((wrong_a & ~wrong_b).sum()), int((wrong_a ^ wrong_b).sum())).pvalue
    assert {t.test: t.p for t in r.tests} == pytest.approx({"mcnemar": p, "permutation": p})


def test_standard_errors_count_clusters():
    a, b = files()
    r = ask({"a": a, "b": b}, cluster="topic")
    both = a.merge(b, on="item", suffixes=("", "_b"))
    both["d"] = (both.y != both.yhat).astype(float) - (both.y != both.yhat_b)
    means = both.groupby("topic").d.mean()  # clusters of equal size: the clustered error is that of cluster means
    assert r["a", "b"].std_error == pytest.approx(means.std(ddof=1) / np.sqrt(10))
    assert r["a", "b"].estimate.df == 9
    assert [t.test for t in r.tests] == ["permutation"]
    assert r.estimates["a"].n_units == 10


def test_clusters_of_unequal_size_use_the_ratio_formula():
    value = pd.DataFrame({"item": range(6), "loss": [1.0, 2.0, 3.0, 7.0, 8.0, 0.5], "g": [0, 0, 0, 1, 1, 2]})
    r = unseen.predictions(value, loss="loss", id="item", cluster="g")
    mean = value.loss.mean()
    totals = (value.loss - mean).groupby(value.g).sum()
    (e,) = r.estimates.values()
    assert e.std_error == pytest.approx(np.sqrt(3 / 2 * (totals**2).sum()) / 6)


def test_three_files_give_three_pairs_with_holm():
    a, b = files()
    c = a.assign(yhat=a.y)
    r = ask({"a": a, "b": b, "c": c})
    assert [(p.a, p.b) for p in r.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    p = np.array([x.p for x in r.pairs])
    assert r.pairs[int(np.argmin(p))].p_adjusted == pytest.approx(min(1, 3 * p.min()))
    assert len(r.frame()) == 9


def test_numbers_use_squared_error_and_t():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(50)
    a = pd.DataFrame({"item": range(50), "y": y, "yhat": y + 0.1 * rng.standard_normal(50)})
    r = ask(a)
    (e,) = r.estimates.values()
    loss = (a.y - a.yhat) ** 2
    assert (e.loss, e.method, e.value) == ("squared", "t-interval", pytest.approx(loss.mean()))
    assert tuple(e.interval) == pytest.approx(stats.t.interval(0.95, 49, loss.mean(), stats.sem(loss)))
    (m,) = ask(a, measure="absolute").estimates.values()
    assert m.value == pytest.approx(np.abs(a.y - a.yhat).mean())


def test_probabilities_of_two_classes_and_of_three():
    two = pd.DataFrame({"item": [1, 2, 3], "y": ["n", "y", "y"], "p": [0.2, 0.9, 0.4]})
    r = unseen.predictions(two, truth="y", prob="p", id="item", measure="brier")
    assert next(iter(r.estimates.values())).value == pytest.approx((0.04 + 0.01 + 0.36) / 3)
    other = unseen.predictions(two, truth="y", prob="p", id="item", measure="brier", positive="n")
    assert next(iter(other.estimates.values())).value == pytest.approx((0.64 + 0.81 + 0.16) / 3)
    labels = unseen.predictions(two, truth="y", prob="p", id="item")
    assert next(iter(labels.estimates.values())).value == pytest.approx(1 / 3)
    three = pd.DataFrame({"y": list("abc"), "pa": [0.5, 0.1, 0.2], "pb": [0.3, 0.6, 0.2], "pc": [0.2, 0.3, 0.6]})
    r = unseen.predictions(three, truth="y", prob=["pa", "pb", "pc"], measure="log-loss")
    assert next(iter(r.estimates.values())).value == pytest.approx(-np.log([0.5, 0.6, 0.6]).mean())


def test_scores_become_losses_once():
    a = pd.DataFrame({"item": [1, 2, 3, 4], "right": [1, 0, 1, 1]})
    b = pd.DataFrame({"item": [1, 2, 3, 4], "right": [1, 0, 0, 0]})
    r = unseen.predictions({"a": a, "b": b}, score="right", id="item")
    assert (r.loss, r.estimates["a"].value, r["a", "b"].difference) == ("1 - right", 0.25, -0.5)
    assert r.estimates["a"].method == "wilson"
    far = unseen.predictions({"a": a * 10, "b": b * 10}, score="right", id="item")
    assert (far.loss, far["a", "b"].difference) == ("-right", -5.0)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "parquet", "jsonl", "json"])
def test_every_format_says_the_same(tmp_path, kind):
    a, b = files()
    paths = []
    for name, frame in (("a", a), ("b", b)):
        path = tmp_path / f"{name}.{kind}"
        if kind == "parquet":
            frame.to_parquet(path)
        elif kind == "jsonl":
            path.write_text("\n".join(json.dumps(r) for r in frame.to_dict("records")) + "\n")
        elif kind == "json":
            path.write_text(json.dumps(frame.to_dict("records")))
        elif kind == "csv.gz":
            path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
        else:
            frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
        paths.append(path)
    r, expected = ask(*paths, cluster="topic"), ask({"a": a, "b": b}, cluster="topic")
    assert list(r.estimates) == [p.name for p in paths]
    assert r.pairs[0].p == expected.pairs[0].p


def test_every_unmatched_row_is_reported():
    a, b = files()
    r = ask({"a": a.iloc[5:], "b": b[b.item != "q30"]})
    assert r.n == 54
    assert r.unmatched == {"a": ["q30"], "b": [i for i in b.item if i in {f"q{k}" for k in range(5)}]}
    assert [n.code for n in r.notes if n.code == "U025"] == ["U025", "U025"]
    assert "q30" in r.to_json()


def test_truth_may_stand_in_one_file_only():
    a, b = files()
    assert ask({"a": a, "b": b.drop(columns="y")})["a", "b"].p == ask({"a": a, "b": b})["a", "b"].p


def test_whole_numbers_and_texts_are_the_same_labels():
    a = pd.DataFrame({"item": [1, 2, 3], "y": [0, 1, 1], "yhat": ["0", "1", "0"]})
    b = pd.DataFrame({"item": ["1", "2", "3"], "y": [0.0, 1.0, 1.0], "yhat": [0.0, 0.0, 1.0]})
    r = ask({"a": a, "b": b})
    assert (r.n, r.estimates["a"].value, r.estimates["b"].value) == (3, pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_a_constant_difference_is_noted_not_believed():
    a = pd.DataFrame({"item": range(30), "loss": np.arange(30.0)})
    r = unseen.predictions({"a": a, "b": a.assign(loss=a.loss + 1)}, loss="loss", id="item")
    one = r["a", "b"]
    assert (one.difference, one.interval) == (-1.0, None)
    assert np.isnan(one.p)
    assert "U010" in {n.code for n in one.notes}
    same = unseen.predictions({"a": a, "b": a.copy()}, loss="loss", id="item")
    assert same["a", "b"].p == 1.0


def test_strange_labels_are_errors_and_noted():
    a, _ = files()
    odd = a.assign(yhat=["?!"] * 3 + a.yhat.tolist()[3:])
    r = ask(odd)
    assert next(iter(r.estimates.values())).value == pytest.approx(np.mean(odd.y != odd.yhat))
    assert "never occur as truth" in str(r)


def test_missing_values_are_refused_or_left_out():
    a, b = files()
    a.loc[3, "yhat"] = None
    with pytest.raises(InputError, match="missing in 1 rows"):
        ask({"a": a, "b": b})
    r = ask({"a": a, "b": b}, missing="drop")
    assert r.n == 59
    assert "U021" in {n.code for n in r.notes}


def test_without_ids_rows_are_paired_by_place_and_noted():
    a, b = files(shuffle=False)
    r = ask({"a": a, "b": b}, id=None)
    assert r["a", "b"].p == ask({"a": a, "b": b})["a", "b"].p
    assert "place" in str(r.notes)


BAD = [
    (lambda a, b: ([a, b], {"id": "nosuch"}), UnknownName, "nosuch"),
    (lambda a, b: ([a, b.assign(item="z" + b.item)], {}), InputError, "share no value"),
    (lambda a, b: ([a, pd.concat([b, b.iloc[:2]])], {}), InputError, "stand in several rows"),
    (lambda a, b: ([a.assign(item=[None, *a.item[1:]]), b], {}), InputError, "'item' is missing"),
    (lambda a, b: ([a, b.assign(y="cat")], {}), InputError, "disagree on the truth"),
    (lambda a, b: ([a, b.assign(yhat="Katze")], {}), InputError, "no predicted label occurs"),
    (lambda a, b: ([a, b.assign(topic=0)], {"cluster": "topic"}), InputError, "disagree on the cluster"),
    (lambda a, b: ([a.assign(topic=0), b.assign(topic=0)], {"cluster": "topic"}), InputError, "at least 2"),
    (lambda a, b: ([a, b.iloc[1:]], {"id": None}), InputError, "different numbers of rows"),
    (lambda a, b: ([a, b], {"pred": None}), InputError, "say what the files hold"),
    (lambda a, b: ([a, b], {"score": "topic"}), InputError, "say what the files hold"),
    (lambda a, b: ([a, b], {"truth": None}), InputError, "truth"),
    (lambda a, b: ([], {}), InputError, "at least one file"),
    (lambda a, b: ([a.iloc[:0]], {}), InputError, "no rows"),
    (lambda a, b: ([a, b], {"names": ["x", "x"]}), InputError, "different names"),
    (lambda a, b: ([a, b], {"missing": "zero"}), InputError, "missing is"),
    (lambda a, b: ([a, b], {"adjust": "x"}), UnknownName, "adjustment"),
    (lambda a, b: ([a.assign(p=2.0)], {"pred": None, "prob": "p"}), InputError, "outside"),
    (lambda a, b: ([a.assign(p=0.5)], {"pred": None, "prob": "p"}), InputError, "two classes"),
    (lambda a, b: ([[1, 2]], {}), TypeError, "no file of predictions"),
]


@pytest.mark.parametrize(("make", "kind", "words"), BAD, ids=[w for _, _, w in BAD])
def test_refusals(make, kind, words):
    sources, options = make(*files())
    with pytest.raises(kind, match=words):
        ask(*sources, **options)


def test_scores_that_are_no_numbers_are_refused():
    a = pd.DataFrame({"item": [1, 2, 3], "s": [1.0, np.nan, 0.0]})
    with pytest.raises(InputError, match="missing in 1 rows"):
        unseen.predictions(a, score="s", id="item")
    with pytest.raises(InputError, match="no finite number"):
        unseen.predictions(a.assign(s=["1", "x", "0"]), score="s", id="item")


def test_broken_json_lines_name_the_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"item": 1, "s": 0}\n{"item": 2,\n')
    with pytest.raises(InputError, match="line 2"):
        unseen.predictions(path, score="s", id="item")


def test_polars_frames_are_read():
    pl = pytest.importorskip("polars")
    a, b = files()
    r = ask({"a": pl.from_pandas(a), "b": pl.from_pandas(b)})
    assert r["a", "b"].p == ask({"a": a, "b": b})["a", "b"].p


def test_names_with_leading_zeros_stay_apart():
    a = pd.DataFrame({"item": ["7", "07", "007"], "s": [1, 0, 1]})
    r = unseen.predictions({"a": a, "b": a.iloc[::-1]}, score="s", id="item")
    assert r.n == 3
    assert r["a", "b"].difference == 0


def test_probabilities_given_as_predictions_are_noted():
    a = pd.DataFrame({"item": range(4), "y": [0, 1, 1, 0], "yhat": [0.2, 0.7, 0.9, 0.4]})
    r = ask(a)
    assert r.loss == "squared"
    assert "probabilities go in prob" in str(r)


def test_a_result_holds_together_as_frame_json_and_text():
    a, b = files()
    r = ask({"a": a, "b": b})
    assert {"a", "b", "difference", "lower", "upper", "p", "test"} <= set(r.frame().columns)
    assert r.to_dict()["files"]["a"]["estimate"] == r.estimates["a"].value
    with pytest.raises(UnknownName, match="nosuch"):
        r["a", "nosuch"]
    with pytest.raises(InputError, match="itself"):
        r["a", "a"]


def test_areas_under_the_curve_by_delong():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 200)
    hit = (y == "yes").astype(float)
    frame = pd.DataFrame({"item": range(200), "y": y, "topic": np.arange(200) // 5})
    a = frame.assign(p=1 / (1 + np.exp(-(2 * hit - 1 + rng.standard_normal(200)))))
    b = frame.assign(p=1 / (1 + np.exp(-(0.5 * hit + rng.standard_normal(200)))))
    r = unseen.predictions(
        {"a": a, "b": b.sample(frac=1, random_state=0)}, truth="y", prob="p", id="item", measure="auc"
    )
    areas = roc_auc_score(hit, a.p), roc_auc_score(hit, b.p)
    assert r.loss == "1 - auc"
    assert r.estimates["a"].value == pytest.approx(1 - areas[0])
    assert r["a", "b"].difference == pytest.approx(areas[1] - areas[0])
    assert [p.test for p in r.pairs] == ["delong"]
    assert r["a", "b"].difference in r["a", "b"].interval
    assert r.tests == ()
    draws = []
    for _ in range(400):  # the standard error against the bootstrap
        k = rng.integers(0, 200, 200)
        draws.append(roc_auc_score(hit[k], b.p.to_numpy()[k]) - roc_auc_score(hit[k], a.p.to_numpy()[k]))
    assert r["a", "b"].std_error == pytest.approx(np.std(draws), rel=0.15)
    with pytest.raises(InputError, match="give prob"):
        ask(a.assign(yhat=a.y), measure="auc")


@pytest.mark.slow
@pytest.mark.sample
def test_few_clusters_find_no_difference_that_is_not_there():
    """8 clusters of 10, two equal models: normal quantiles found a difference of F1 in 11% of samples, t in 6%."""
    found = []
    for k in range(120):
        r = np.random.default_rng(k)
        y, cluster = r.integers(0, 2, 80), np.repeat(np.arange(8), 10)
        right = [r.random(80) < np.repeat(r.beta(0.75 * 7 / 3, 0.25 * 7 / 3, 8), 10) for _ in range(2)]
        files = {
            name: pd.DataFrame({"y": y, "pred": np.where(ok, y, 1 - y), "c": cluster}) for name, ok in zip("ab", right)
        }
        pair = unseen.predictions(files, truth="y", pred="pred", cluster="c", measure="f1", random_state=k)["a", "b"]
        assert pair.reference == "t(7)"
        found.append(pair.p < 0.05)
    assert np.mean(found) <= 0.09
    two = {name: frame.assign(c=cluster % 2) for name, frame in files.items()}
    pair = unseen.predictions(two, truth="y", pred="pred", cluster="c", measure="f1")["a", "b"]
    assert pair.interval is None
    assert np.isnan(pair.p)
    assert "U009" in [n.code for n in pair.notes]


def test_one_number_under_several_names_has_one_interval_of_a_difference():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(60)
    two = {k: pd.DataFrame({"y": y, "yhat": y + s * rng.standard_normal(60)}) for k, s in (("a", 0.5), ("b", 0.9))}
    found = [
        unseen.predictions(two, truth="y", pred="yhat", measure=name)["a", "b"]
        for name in ("r2", "pineda-p", "normalised-squared")
    ]
    assert abs(found[0].difference) > 0.1
    for other in found[1:]:
        assert other.difference == pytest.approx(found[0].difference, rel=1e-12)
        assert tuple(other.interval) == pytest.approx(tuple(found[0].interval), rel=1e-12)


def test_the_folder_one_is_in_has_the_name_of_the_folder():
    from unseen.evaluation.prediction_files import sources_by_name

    assert list(sources_by_name(["a.parquet", "."])) == ["a.parquet", Path.cwd().name]
