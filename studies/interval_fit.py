"""Fits the predictive distribution of a recipe: what the true error was in situations like the user's.

    python -m studies.interval_fit combined
    python -m studies.interval_fit auto-resub    # rewrites the recipe's rows of interval.csv and docs/tables/interval_auto-resub.md, about a minute

The value c of a row is made by weights that never saw a data set of its family. T | c is the Beta distribution of `unseen.estimators.combined.predictive`. Its five constants maximise a beta-binomial
likelihood: the true error was counted on L rows, so its count X is binomial given T, and the noise of the truth is not fitted into the interval. Every (family, sample size) counts the same. `scale` is
chosen last: the largest at which the intervals of families left out of the fit cover 95%, families and sizes counting the same, over rows whose truth is accurate. For `combined`, which makes the headline,
that is where the lower 95% limit of this coverage, over families, is 95%: others will differ. Rules of one family, and samples of five classes or more, have a scale of their own, halfway between what their
rows alone ask for and that of all. `combined` is fitted on the families of the first four lists of `interval_families` too, which have been judged.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import betaln

from studies import combination_bounded as bounded
from studies import combination_fresh as fresh
from studies import combination_large as large
from studies import interval_judge, interval_rows
from studies.combination_cells import Columns, fold_of, load
from studies.combination_evidence import FAMILY_OF_RULE, auto_by_row, markdown
from studies.combination_rows import Row, pack_rows, read_rows
from studies.small_samples import FAMILY_OF, LARGEST_TEST, table
from unseen.estimators.combined.evidence import recipe_weights
from unseen.estimators.combined.predictive import MANY, MANY_CLASSES, Predictive

HERE = Path(__file__).parent
INTERVAL = HERE.parent / "src" / "unseen" / "estimators" / "combined" / "interval.csv"
TABLES = HERE.parent / "docs" / "tables"
OF_POPULATION = 5000  # rows that give the true error of a made population
LEVEL = 0.95
N_FOLDS = 10
FOLD_SEED = 0
START = Predictive(size=1.0, floor=0.002, prior=1.5, centre=0.27, slope=0.0)
# standard errors above the level; 1.645 of them are a limit that holds in 95%
MARGIN = {"auto-resub": 0.0, "combined": 1.645}
# `auto-resub` was calibrated before lower ends of less than half an error became 0
ENDS = {"auto-resub": Predictive.quantiles, "combined": Predictive.ends}
# scale of the intervals by which truths are accurate or not; near the one that is chosen
JUDGED_AT = {"auto-resub": 1.0, "combined": 0.9}
# a quarter of an error before any is seen; the likelihood hardly distinguishes it from .06, but samples with hardly an error do (.86 covered, .94 with it)
LEAST_PRIOR, LEAST_CENTRE = 1.0, 0.25
ACCURATE = 0.25  # of the half-width: a row is judged if the standard error of its true error is below
JUDGED = (
    interval_judge.FIRST,
    interval_judge.SECOND,
    interval_judge.THIRD,
    interval_judge.FOURTH,
    interval_judge.FORESTS,
)
SETTLED = (1.5, 0.1)  # bound and ridge of `combined` as shipped
SAME_WEIGHTS = {"logistic": "linear-svm"}
BANDS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 1.01)


@dataclass(frozen=True)
class Truths(Columns):
    """Values of a recipe beside the true error, counted on `left` rows."""

    value: np.ndarray
    truth: np.ndarray
    n: np.ndarray
    left: np.ndarray
    family: np.ndarray
    rule: np.ndarray
    classes: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """Weights by which every family counts the same at every sample size."""
        label = np.array([f"{f} {n}" for f, n in zip(self.family, self.n)])
        _, index, count = np.unique(label, return_inverse=True, return_counts=True)
        return 1 / count[index]


def join(parts: Iterable[Truths]) -> Truths:
    """Return the rows of all parts."""
    given = list(parts)
    return Truths(*(np.concatenate([getattr(one, f.name) for one in given]) for f in fields(Truths)))


def rows_left(given: bounded.Samples) -> np.ndarray:
    """Return how many rows gave the true error of each sample."""
    return np.array(
        [
            OF_POPULATION if s.startswith("population/") else min(len(table(s)[1]) - n, LARGEST_TEST)
            for s, n in zip(given.set, given.n)
        ]
    )


def truths(given: bounded.Samples, value: np.ndarray, left: np.ndarray | None = None) -> Truths:
    """Return the rows of a study with the values of a recipe; `left` rows gave the truths, if the rows say so."""
    left = rows_left(given) if left is None else left
    return Truths(value, given.truth, given.n.astype(float), left, given.group, given.rule, given.classes)


def auto_resub_rows() -> Truths:
    """Return `auto-resub` in the study, its large samples and the fresh sets without a class below 10%."""
    rows, cells = load()
    given, fitted_on = bounded.samples(rows), cells.comparable()
    members = tuple(recipe_weights("auto-resub")["any"])
    more = read_rows(large.PACKED)
    given_more = bounded.samples(more)
    known = {name: fresh.kind_of(name) for name in fresh.FAMILY_OF}
    new = [r for r in read_rows(fresh.PACKED) if known[r["set"]] != "a class below 10%"]
    return join(
        (
            truths(given, auto_by_row(rows, given, fitted_on, members)),
            truths(given_more, auto_by_row(more, given_more, fitted_on, members)),
            truths(bounded.samples(new, fresh.FAMILY_OF), fresh.by_recipes(new)["auto-resub"]),
        )
    )


def by_family_left_out(rows: list[Row], family_of: Mapping[str, str]) -> np.ndarray:
    """Return `combined` for rows of a study, by weights fitted without the family of the row; logistic regression is a linear rule."""
    known = [{**r, "rule": SAME_WEIGHTS.get(r["rule"], r["rule"])} for r in rows]
    given, judged = bounded.samples(load()[0]), bounded.samples(known, family_of)
    fold = fold_of(given.group)
    number = dict(zip(given.group, fold))
    fold_of_judged = np.array([number.get(group, -1) for group in judged.group])  # -1: a family the weights never saw
    out = np.empty(len(rows))
    for k in np.unique(fold_of_judged):
        inside = fold_of_judged == k
        out[inside] = bounded.fitted(given.where(fold != k), *SETTLED)(judged.where(inside))
    return out


def combined_rows() -> Truths:
    """Return `combined` in the study, its large samples, the fresh sets without a class below 10%, `interval_rows`, and the families judged so far.

    Rare classes come from `interval_rows` alone: there samples are used only if such a class is expected four times, whereas drawing
    again until it has come three times makes it more frequent in the sample than in the population.
    """
    rows, more, added = load()[0], read_rows(large.PACKED), pack_rows(interval_rows.PACKED)
    kinds = {name: fresh.kind_of(name) for name in fresh.FAMILY_OF}
    new = [r for r in read_rows(fresh.PACKED) if kinds[r["set"]] != "a class below 10%"]
    parts = [truths(bounded.samples(own), by_family_left_out(own, FAMILY_OF)) for own in (rows, more)]
    parts.append(truths(bounded.samples(new, fresh.FAMILY_OF), by_family_left_out(new, fresh.FAMILY_OF)))
    given, value = bounded.samples(added, interval_rows.FAMILY_OF), by_family_left_out(added, interval_rows.FAMILY_OF)
    left = np.array([float(r["left"]) for r in added])
    parts.append(truths(given, value, left))
    return join([*parts, *map(judged_rows, JUDGED)])


def judged_rows(given: interval_judge.Listed) -> Truths:
    """Return `combined` on the families of a list that has been judged, where it leads; its weights never saw them."""
    rows = [r for r in pack_rows(given.packed, "estimate") if float(r["led"])]
    value, truth, n, left, classes = (
        np.array([float(r[name]) for r in rows]) for name in ("estimate", "truth", "n", "left", "classes")
    )
    family = np.array([given.family_of[r["set"].split(":")[0]] for r in rows])
    return Truths(value, truth, n, left, family, np.array([r["rule"] for r in rows]), classes)


ROWS = {"auto-resub": auto_resub_rows, "combined": combined_rows}


def _unpack(p: np.ndarray) -> Predictive:
    size, floor, prior = (float(v) for v in np.exp(p[:3]))
    return Predictive(size=size, floor=floor, prior=prior, centre=float(1 / (1 + np.exp(-p[3]))), slope=float(p[4]))


def _pack(given: Predictive) -> np.ndarray:
    odds = given.centre / (1 - given.centre)
    return np.array([*np.log([given.size, given.floor, given.prior, odds]), given.slope])


def negative_log_likelihood(given: Predictive, rows: Truths, weight: np.ndarray) -> float:
    """Return the weighted mean of the negative log-likelihood of the counts of errors, up to a constant."""
    a, b = given.shapes(rows.value, rows.n)
    counted = np.round(rows.truth * rows.left)
    log = betaln(counted + a, rows.left - counted + b) - betaln(a, b)
    return float(-np.average(log, weights=weight))


def fit(rows: Truths, start: Predictive = START) -> Predictive:
    """Return the constants of largest likelihood, with a scale of 1."""
    weight = rows.weight

    def loss(p: np.ndarray) -> float:
        return negative_log_likelihood(_unpack(p), rows, weight)

    free = (None, None)
    least = np.log([LEAST_PRIOR, LEAST_CENTRE / (1 - LEAST_CENTRE)])
    bounds = (free, free, (least[0], None), (least[1], None), free)
    return _unpack(minimize(loss, _pack(start), method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-10}).x)


def fold_of_family(family: np.ndarray) -> np.ndarray:
    """Return the fold of each row; a family is never divided."""
    names = np.unique(family)
    order = np.random.default_rng(FOLD_SEED).permutation(len(names))
    number = dict(zip(names[order], np.arange(len(names)) % N_FOLDS))
    return np.array([number[one] for one in family])


def held_out_fits(rows: Truths, start: Predictive) -> list[tuple[np.ndarray, Predictive]]:
    """Return masks of rows with the constants that were fitted without their families."""
    fold = fold_of_family(rows.family)
    return [(fold == k, fit(rows.where(fold != k), start)) for k in range(N_FOLDS)]


def ends_by_fits(
    rows: Truths, fits: list[tuple[np.ndarray, Predictive]], scale: float | np.ndarray, recipe: str = "combined"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of all intervals, each by constants that never saw the row's family, at one scale or each at its own."""
    low, high = np.empty(len(rows.truth)), np.empty(len(rows.truth))
    each = np.broadcast_to(scale, len(rows.truth))
    for inside, made in fits:
        value, n, factor = rows.value[inside], rows.n[inside], each[inside]
        for own in np.unique(factor):
            where = np.flatnonzero(inside)[factor == own]
            low[where], high[where] = ENDS[recipe](
                replace(made, scale=float(own)), value[factor == own], n[factor == own], LEVEL
            )
    return low, high


def accurate(rows: Truths, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Say of each row whether its true error is accurate enough to judge the interval by.

    The rate is that of the recipe. By the true error itself, a family with few rows left would be judged where that came out
    small by chance, and only there.
    """
    q = (rows.n * rows.value + 1) / (rows.n + 2)
    return np.asarray(np.sqrt(q * (1 - q) / rows.left) < ACCURATE * (high - low) / 2)


def coverage(rows: Truths, low: np.ndarray, high: np.ndarray) -> float:
    """Return the share of intervals that hold the truth, families counting the same at every size."""
    return float(np.average((low <= rows.truth) & (rows.truth <= high), weights=rows.weight))


def coverage_by_family(rows: Truths, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the share of intervals that hold the truth in each family, in the order of their names."""
    _, index = np.unique(rows.family, return_inverse=True)
    inside = (low <= rows.truth) & (rows.truth <= high)
    return np.bincount(index, inside) / np.bincount(index)


def error_of_coverage(rows: Truths, low: np.ndarray, high: np.ndarray) -> float:
    """Return the standard error of `coverage` over families: a new list of data sets is a new draw of them."""
    weight, index = rows.weight, np.unique(rows.family, return_inverse=True)[1]
    inside = (low <= rows.truth) & (rows.truth <= high)
    off = np.bincount(index, weight * (inside - np.average(inside, weights=weight)))
    return float(np.sqrt(len(off) / (len(off) - 1) * np.sum(off**2)) / weight.sum())


def choose_scale(
    recipe: str, rows: Truths, fits: list[tuple[np.ndarray, Predictive]], among: np.ndarray | None = None
) -> float:
    """Return the scale at which families that were left out are covered at the level and the margin, over all rows or `among` some."""
    usable = accurate(rows, *ends_by_fits(rows, fits, JUDGED_AT[recipe], recipe))
    usable = usable if among is None else usable & among
    judged = rows.where(usable)

    def excess(scale: float) -> float:
        low, high = (end[usable] for end in ends_by_fits(rows, fits, scale, recipe))
        return coverage(judged, low, high) - MARGIN[recipe] * error_of_coverage(judged, low, high) - LEVEL

    return 1.0 if excess(1.0) >= 0 else float(brentq(excess, 0.2, 1.0, xtol=1e-3))


def families_of_rules(rows: Truths) -> np.ndarray:
    """Return the family of the rule of each row."""
    return np.array([family_of_rule(rule) for rule in rows.rule])


def family_of_rule(rule: str) -> str:
    """Return the family of a rule of the study, as `rule_family` gives it for the model."""
    return "boosting" if rule == "boosting" else FAMILY_OF_RULE.get(SAME_WEIGHTS.get(rule, rule), "any")


def scale_of_rows(rows: Truths, overall: float, scales: Mapping[str, float]) -> np.ndarray:
    """Return the scale of each row as the package takes it."""
    own = np.array([scales.get(f"scale {family}", overall) for family in families_of_rules(rows)])
    return np.asarray(np.where(rows.classes >= MANY, scales.get(MANY_CLASSES, 1.0), 1.0) * own)


def scales_by_situation(rows: Truths, fits: list[tuple[np.ndarray, Predictive]], overall: float) -> dict[str, float]:
    """Return the scale of each family of rules, the geometric mean of its own, which few data sets give, and that of all; and the factor of many classes."""
    family = families_of_rules(rows)
    own = {f"scale {name}": choose_scale("combined", rows, fits, family == name) for name in np.unique(family)}
    halfway = {name: float(f"{np.sqrt(scale * overall):.4g}") for name, scale in own.items()}
    crowd = choose_scale("combined", rows, fits, rows.classes >= MANY)
    return {**halfway, MANY_CLASSES: float(f"{np.sqrt(crowd / overall):.4g}")}


def rounded(given: Predictive) -> Predictive:
    """Return the constants as they are shipped."""
    return replace(given, **{f.name: float(f"{getattr(given, f.name):.4g}") for f in fields(given)})


def ship(recipe: str, given: Predictive, scales: Mapping[str, float]) -> None:
    """Rewrite the rows of a recipe in the file that the package reads; those of others stay."""
    head, names, *lines = INTERVAL.read_text().splitlines()
    kept = [line for line in lines if next(csv.reader([line]))[0] != recipe]
    own = [f"{recipe},{f.name},{getattr(given, f.name):g}" for f in fields(given)]
    own += [f"{recipe},{situation},{scale:g}" for situation, scale in scales.items()]
    every = sorted([*kept, *own], key=lambda line: line.split(",")[0])
    INTERVAL.write_text("\n".join([head, names, *every]) + "\n")


def _line(label: str, rows: Truths, low: np.ndarray, high: np.ndarray, weight: np.ndarray) -> list[str]:
    """Return one line of the table; rows of weight 0 are not part of it."""
    inside = weight > 0
    below, above = (np.average(out, weights=weight) for out in (rows.truth < low, rows.truth > high))
    figures = (1 - below - above, below, above, np.median((high - low)[inside]))
    return [label, str(len(np.unique(rows.family[inside]))), str(inside.sum()), *(f"{v:.3f}" for v in figures)]


def report(
    recipe: str, rows: Truths, given: Predictive, scales: Mapping[str, float], fits: list[tuple[np.ndarray, Predictive]]
) -> str:
    """Return the table of the documentation: coverage of families left out, by what can be seen."""
    low, high = ends_by_fits(rows, fits, scale_of_rows(rows, given.scale, scales), recipe)
    judged = accurate(rows, low, high)
    weight = np.zeros(len(low))
    weight[judged] = rows.where(
        judged
    ).weight  # kept within bands: families enter those as often as they fall into them
    every = [("all", judged)]
    every += [(f"n = {n:g}", rows.n == n) for n in np.unique(rows.n)]
    every += [(rule, rows.rule == rule) for rule in np.unique(rows.rule)]
    crowds = ((2, 3), (3, MANY), (MANY, 101))
    every += [
        (
            {2: "two classes", 3: "three or four classes", MANY: "five classes or more"}[a],
            (rows.classes >= a) & (rows.classes < b),
        )
        for a, b in crowds
    ]
    every += [
        (f"{recipe} {100 * a:g}% to {min(100 * b, 100):g}%", (rows.value >= a) & (rows.value < b))
        for a, b in pairwise(BANDS)
    ]
    lines = [_line(label, rows, low, high, weight * inside) for label, inside in every]
    each = coverage_by_family(rows.where(judged), low[judged], high[judged])
    draws = np.random.default_rng(0).choice(each, (4000, len(each))).mean(axis=1)
    text = [
        f"{len(rows.truth)} samples of {len(np.unique(rows.family))} families; judged are those whose true error has a standard error below a quarter of the half-width. Constants are fitted without the family of the row; every family counts the same at every sample size.",
        markdown(["samples", "families", "number", "coverage", "truth below", "truth above", "median width"], lines),
        f"Mean coverage of a family {each.mean():.3f}, 2.5% point of a bootstrap over families {np.quantile(draws, 0.025):.3f}, a tenth of the families below {np.quantile(each, 0.1):.3f}.",
        "Constants: "
        + ", ".join(
            [f"{f.name} {getattr(given, f.name):g}" for f in fields(given)]
            + [f"{situation} {scale:g}" for situation, scale in scales.items()]
        )
        + ".",
    ]
    return "\n\n".join(text) + "\n"


def main() -> None:
    """Fit, ship and report a recipe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=tuple(ROWS))
    recipe = parser.parse_args().recipe
    rows = ROWS[recipe]()
    whole = fit(rows)
    fits = held_out_fits(rows, whole)
    made = rounded(replace(whole, scale=choose_scale(recipe, rows, fits)))
    scales = scales_by_situation(rows, fits, made.scale) if recipe == "combined" else {}
    ship(recipe, made, scales)
    text = report(recipe, rows, made, scales, fits)
    (TABLES / f"interval_{recipe}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
