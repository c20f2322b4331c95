"""Size and power of the tests of a difference where the answer is known, and how far the difference moves with the training size.

Run as `python -m studies.compare_sizes [--device cuda] [--sets N] [--only NAME] [--quick]`. Every data set's differences and standard errors are
kept in `compare_sizes.npz`, a run that was stopped goes on from there, and the tables are written into docs/validation/comparing.md;
`--sets 0` only writes them. The numbers of the documentation took a few minutes on one H200; 50 sets of every case take some minutes on
a processor, and `--quick` shows the form of the tables, not their numbers, in less than one.

A null is exact: both models are the same learner, each sees one of two exchangeable halves of the columns, so that neither is better
on average. All learners are trained on all resamples of many data sets at once (`studies.compare_learners`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
from torch import Tensor

from studies.compare_learners import LEARNERS

__all__ = [
    "CASES",
    "Case",
    "differences_of",
    "out_of_bag",
    "out_of_bag_areas",
    "out_of_bag_f1",
    "reject",
    "splits_of",
    "tables_of",
    "write",
]

HERE = Path(__file__).parent
ROWS = HERE / "compare_sizes.npz"
PAGE = HERE.parent / "docs" / "validation" / "comparing.md"
B, SPLITS, TEST_SHARE = 200, 25, 0.3  # the defaults of `compare`
SETS_AT_ONCE = 100  # data sets of areas and F1 by subsampling that share a generator
HIDDEN, RISE = 0.5, 0.75  # of the package's `subsampling`
SUBSAMPLE = 0.632  # share of distinct rows in a bootstrap sample
HALVES = ((0, 1, 4, 5, 6), (2, 3, 7, 8, 9))
SHARED = ((0, 1, 2, 4, 5), (0, 1, 3, 6, 7))
ODDS = frozenset({"LDA", "QDA", "boosting"})  # learners that give log-odds; the others give chances or numbers
CELLS = {"cpu": 2_000_000, "cuda": 20_000_000}  # samples x resamples x rows at a time, as memory allows

Sample = tuple[Tensor, Tensor]
Draw = Callable[[int, int, torch.Generator], Sample]


def _normal(shape: tuple[int, ...], rng: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=rng, device=rng.device, dtype=torch.float64)


def logistic(sets: int, n: int, rng: torch.Generator, start: float = 0.0) -> Sample:
    """Draw normal columns of which four drive a logistic label; error rates near .3."""
    X = _normal((sets, n, 10), rng)
    chance = torch.sigmoid(start + 1.2 * X[..., :4].sum(2))
    return X, (torch.rand(chance.shape, generator=rng, device=rng.device) < chance).to(X)


def rare(sets: int, n: int, rng: torch.Generator) -> Sample:
    """Draw the same with a fifth of the rows in class 1."""
    return logistic(sets, n, rng, start=-2.5)


def gaussian(sets: int, n: int, rng: torch.Generator, first: float = 0.62, second: float = 0.62) -> Sample:
    """Draw two normal classes whose means lie `first` or `second` from 0 in the two columns that speak in a half."""
    y = torch.randint(0, 2, (sets, n), generator=rng, device=rng.device).to(torch.float64)
    X = _normal((sets, n, 10), rng)
    X[..., :4] += (2 * y - 1)[..., None] * torch.tensor([first, first, second, second]).to(X)
    return X, y


def unequal(sets: int, n: int, rng: torch.Generator) -> Sample:
    """Draw normal classes that the first half separates better: errors of LDA .18 and .21."""
    return gaussian(sets, n, rng, 0.680, 0.605)


def shared(sets: int, n: int, rng: torch.Generator) -> Sample:
    """Draw normal classes for two models that share their best columns: errors of LDA .18 and .21."""
    X, y = gaussian(sets, n, rng, 0.605, 0.0)
    X[..., 2] += (2 * y - 1) * 0.438
    return X, y


def line(sets: int, n: int, rng: torch.Generator) -> Sample:
    """Draw a number that is a sum of four columns and normal noise."""
    X = _normal((sets, n, 10), rng)
    return X, X[..., :4].sum(2) + _normal((sets, n), rng)


def shapes(sets: int, n: int, rng: torch.Generator) -> Sample:
    """Draw two normal classes that differ a little in mean and in spread: few rows favour LDA, many QDA."""
    y = torch.randint(0, 2, (sets, n), generator=rng, device=rng.device).to(torch.float64)
    X = _normal((sets, n, 10), rng) * (1 + 0.3 * y[..., None])
    X[..., :2] += (2 * y - 1)[..., None] * 0.8
    return X, y


POPULATIONS: dict[str, Draw] = {
    "logistic": logistic,
    "rare": rare,
    "gaussian": gaussian,
    "unequal": unequal,
    "shared": shared,
    "line": line,
    "shapes": shapes,
}


@dataclass(frozen=True)
class Case:
    """One population, learner and size, with the measures to be compared and how many data sets are wanted."""

    population: str
    learner: str
    n: int
    measures: tuple[str, ...]
    sets: int = 2000
    samples: int = B

    @property
    def name(self) -> str:
        """Text that says it all."""
        more = "" if self.samples == B else f", {self.samples} samples"
        return f"{self.learner}, {self.population}, n = {self.n}{more}"

    @property
    def columns(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the two models see."""
        return SHARED if self.population == "shared" else HALVES

    @property
    def null(self) -> bool:
        """Whether neither model is better."""
        return self.population not in ("unequal", "shared")

    @property
    def drawn_after(self) -> bool:
        """Whether areas and F1 are drawn once more: constants of areas were chosen on deep trees."""
        return self.null and self.learner == "deep tree" and "auc" in self.measures


ALL = ("zero-one", "auc", "f1", "log-loss")
CASES = (
    *(Case("logistic", learner, 200, ALL) for learner in ("LDA", "7NN", "1NN", "tree of depth 3", "deep tree", "boosting")),
    *(Case("gaussian", learner, 200, ALL) for learner in ("LDA", "7NN", "1NN", "tree of depth 3", "deep tree", "boosting")),
    *(Case("rare", learner, 200, ALL) for learner in ("LDA", "7NN", "1NN", "deep tree")),
    *(Case("line", learner, 200, ("squared",)) for learner in ("least squares", "7NN", "1NN", "tree of depth 3", "deep tree")),
    *(Case("logistic", learner, n, ("zero-one", "auc", "f1")) for n in (30, 60) for learner in ("LDA", "7NN", "1NN", "deep tree")),
    *(Case("logistic", learner, 1000, ("zero-one",)) for learner in ("LDA", "1NN")),
    *(Case("unequal", learner, 200, ALL) for learner in ("LDA", "7NN", "deep tree")),
    *(Case("shared", learner, 200, ALL) for learner in ("LDA", "7NN", "tree of depth 3", "deep tree", "boosting")),
    *(Case("logistic", learner, 200, ("zero-one",), samples=1000) for learner in ("1NN", "deep tree")),
)  # fmt: skip


def resamples(sets: int, n: int, rng: torch.Generator, samples: int = B) -> tuple[Tensor, Tensor, Tensor]:
    """Return how often each row is trained on: bootstrap samples, subsamples without copies, and random 70/30 splits."""
    drawn = torch.randint(0, n, (sets, samples, n), generator=rng, device=rng.device)
    bootstrap = torch.zeros((sets, samples, n), dtype=torch.float64, device=rng.device)
    bootstrap.scatter_add_(2, drawn, torch.ones_like(bootstrap))

    sub = _without_copies(sets, samples, n, round(SUBSAMPLE * n), rng)
    return bootstrap, sub, _without_copies(sets, SPLITS, n, n - int(np.ceil(TEST_SHARE * n)), rng)


def _without_copies(sets: int, count: int, n: int, size: int, rng: torch.Generator) -> Tensor:
    order = torch.rand((sets, count, n), generator=rng, device=rng.device).argsort(2)
    return (order < size).to(torch.float64)


def _jackknife(own: Tensor, products: Tensor, value: Tensor, areas: bool = False) -> Tensor:
    """Return values, standard errors and degrees of freedom by the infinitesimal jackknife, cleared of Monte-Carlo noise."""
    count, square = products.shape[1], own.square()
    centred = (products - products.mean(1, keepdim=True)) * np.sqrt(count / (count - 1))
    least = square.sum(1)
    if areas:
        error = (2 * (centred @ centred.mT).square().sum((1, 2))).sqrt()
        least = least + RISE * torch.minimum((error - HIDDEN * least).clamp(min=0), least)
    variance = (own + products.sum(1)).square().sum(1) - centred.square().sum((1, 2))
    df = 2 * square.sum(1).square() / (square - square.mean(1, keepdim=True)).square().sum(1)
    df = torch.nan_to_num(df, nan=np.inf).clamp(1, own.shape[1] - 1)
    return torch.stack([value, torch.maximum(variance, least).sqrt(), df], dim=1)


def _centred(W: Tensor) -> Tensor:
    """Return by how much each resample moves the weight of each row.

    For a bootstrap sample that is how often the row was drawn, less one. Without copies it is divided by the share left out (Wager and
    Athey, 2018), since a drawn row takes another's place.
    """
    share = W.sum(2).mean() / W.shape[2]
    return W - 1 if W.max() > 1 else (W - share) / (1 - share)


def out_of_bag(losses: Tensor, W: Tensor) -> Tensor:
    """Return mean and standard error of a leave-one-out bootstrap, or of the same from subsamples without copies."""
    outside, n = (W == 0).to(losses), W.shape[2]
    times = outside.sum(1)
    by_unit = (losses * outside).sum(1) / times
    rest = (outside * (losses - by_unit[:, None]) / times[:, None]).mean(2)
    own = (by_unit - by_unit.mean(1, keepdim=True)) / n
    return _jackknife(own, _centred(W) * rest[..., None], by_unit.mean(1))


def out_of_bag_areas(y: Tensor, first: Tensor, second: Tensor, W: Tensor) -> Tensor:
    """Return the difference of 1 - AUC over pairs of rows that are both out of bag, and its standard error."""
    out = []
    for labels, a, b, w, moved in zip(y, first, second, W, _centred(W)):
        ones, zeros = labels == 1, labels == 0
        outside = (w == 0).float()
        mask = outside[:, ones, None] * outside[:, None, zeros]
        gap = (b[:, ones, None] > b[:, None, zeros]).float() + 0.5 * (b[:, ones, None] == b[:, None, zeros])
        gap -= (a[:, ones, None] > a[:, None, zeros]).float() + 0.5 * (a[:, ones, None] == a[:, None, zeros])
        times = mask.sum(0).clamp(min=1)
        mean = (gap * mask).sum(0) / times
        rest = ((gap - mean) * mask / times).mean((1, 2)).double()
        own = torch.zeros_like(labels)
        own[ones] = ((mean.mean(1) - mean.mean()) / ones.sum()).double()
        own[zeros] = ((mean.mean(0) - mean.mean()) / zeros.sum()).double()
        made = _jackknife(own[None], (moved * rest[:, None])[None], mean.mean().double()[None], areas=W.max() == 1)
        made[:, 2] = _rarer(labels[None])
        out.append(made)
    return torch.cat(out)


def _rarer(y: Tensor) -> Tensor:
    """Return one less than the rows of the rarer class of each data set."""
    return (torch.minimum(y.sum(1), y.shape[1] - y.sum(1)) - 1).clamp(min=1)


def _calls(y: Tensor, made: Tensor, cut: float) -> tuple[Tensor, Tensor]:
    """Return, for each resample and row, whether it is a right and whether it is a wrong call about class 1."""
    called, one = made > cut, (y == 1)[:, None]
    return (called & one).double(), (called != one).double()


def out_of_bag_f1(y: Tensor, first: Tensor, second: Tensor, W: Tensor, cut: float) -> Tensor:
    """Return the difference of 1 - F1 of all out-of-bag calls, and its standard error by F1's tangent."""
    outside = (W == 0).to(W)
    times = outside.sum(1)
    value, slope = 0.0, 0.0
    for sign, made in ((1, first), (-1, second)):
        right, wrong = _calls(y, made, cut)
        hit, miss = (((c * outside).sum(1) / times).mean(1)[:, None, None] for c in (right, wrong))
        value = value + sign * (miss / (2 * hit + miss))[:, 0, 0]
        slope = slope + sign * (2 * hit * wrong - 2 * miss * right) / (2 * hit + miss).square()
    made = out_of_bag(torch.as_tensor(slope), W)
    return torch.stack([torch.as_tensor(value), made[:, 1], torch.maximum(made[:, 2], _rarer(y))], dim=1)


def corrected(parts: Tensor, n: int) -> Tensor:
    """Return the mean over splits and Nadeau and Bengio's standard error."""
    tested = int(np.ceil(TEST_SHARE * n))
    return torch.stack([parts.mean(1), parts.std(1) * np.sqrt(1 / SPLITS + tested / (n - tested))], dim=1)


def splits_of(measure: str, y: Tensor, made: Tensor, W: Tensor, cut: float) -> Tensor:
    """Return what each split adds to the error, as `compare` has it: areas part by part, F1 of all parts by the jackknife."""
    outside = (W == 0).to(W)
    if measure == "auc":
        pair = ((y == 1)[:, None, :, None] & (y == 0)[:, None, None, :]).float()
        mask = pair * (outside[..., :, None] * outside[..., None, :]).float()
        ahead = (made[..., :, None] > made[..., None, :]).float() + 0.5 * (made[..., :, None] == made[..., None, :])
        return 1 - ((ahead * mask).sum((2, 3)) / mask.sum((2, 3))).double()
    right, wrong = ((c * outside).sum(2) for c in _calls(y, made, cut))
    whole = wrong.sum(1) / (2 * right.sum(1) + wrong.sum(1))
    a, b = right.sum(1, keepdim=True) - right, wrong.sum(1, keepdim=True) - wrong
    without = b / (2 * a + b)
    return whole[:, None] - (SPLITS - 1) * (without - without.mean(1, keepdim=True))


def losses_of(measure: str, y: Tensor, made: Tensor, odds: bool) -> Tensor:
    """Return the loss of every resample's model on every row."""
    y = y[:, None]
    if measure == "squared":
        return (y - made).square()
    if measure == "zero-one":
        return ((made > (0.0 if odds else 0.5)) != (y == 1)).double()
    chance = torch.sigmoid(made.clamp(-30, 30)) if odds else 0.1 + 0.8 * made  # shares kept away from 0 and 1
    return -torch.log(torch.where(y == 1, chance, 1 - chance))


def differences_of(case: Case, sets: int, rng: torch.Generator) -> dict[str, np.ndarray]:
    """Return differences and standard errors of fresh data sets, by measure and test."""
    X, y = POPULATIONS[case.population](sets, case.n, rng)
    bootstrap, sub, split = resamples(sets, case.n, rng, case.samples)
    b = case.samples
    W = torch.cat([bootstrap, sub, split], dim=1)
    odds = case.learner in ODDS
    cut = 0.0 if odds else 0.5
    made = [LEARNERS[case.learner](X[..., list(seen)], y, W) for seen in case.columns]
    boot, subs, parts = ([m[:, at] for m in made] for at in (slice(b), slice(b, 2 * b), slice(2 * b, None)))
    out: dict[str, Tensor] = {}
    for measure in case.measures:
        if measure == "auc":
            out["auc: out-of-bag"] = out_of_bag_areas(y, *boot, bootstrap)
        elif measure == "f1":
            out["f1: out-of-bag"] = out_of_bag_f1(y, *boot, bootstrap, cut)
        if measure in ("auc", "f1"):
            first, second = (splits_of(measure, y, s, split, cut) for s in parts)
            out[f"{measure}: corrected-t"] = corrected(first - second, case.n)
            continue
        gaps = [losses_of(measure, y, s[0], odds) - losses_of(measure, y, s[1], odds) for s in (boot, subs, parts)]
        out[f"{measure}: out-of-bag"] = out_of_bag(gaps[0], bootstrap)
        out[f"{measure}: subsamples"] = out_of_bag(gaps[1], sub)
        tested = (split == 0).double()
        out[f"{measure}: corrected-t"] = corrected((gaps[2] * tested).sum(2) / tested.sum(2), case.n)
    return {test: values[:, :2].cpu().numpy().astype(np.float16) for test, values in out.items()}


def set_differences_of(case: Case, sets: int, rng: torch.Generator) -> dict[str, np.ndarray]:
    """Return differences, standard errors and degrees of freedom of areas and F1 by subsampling, of data sets of their own."""
    X, y = POPULATIONS[case.population](sets, case.n, rng)
    W = _without_copies(sets, case.samples, case.n, round(SUBSAMPLE * case.n), rng)
    made = [LEARNERS[case.learner](X[..., list(seen)], y, W) for seen in case.columns]
    cut = 0.0 if case.learner in ODDS else 0.5
    out = {"auc": out_of_bag_areas(y, *made, W), "f1": out_of_bag_f1(y, *made, W, cut)}
    return {f"{measure}: subsamples": values.cpu().numpy().astype(np.float16) for measure, values in out.items()}


PAIRS = (
    ("shapes", "LDA", "QDA"),
    ("shapes", "LDA", "7NN"),
    ("gaussian", "LDA", "tree of depth 3"),
    ("gaussian", "7NN", "1NN"),
    ("logistic", "LDA", "boosting"),
)
FRESH = 2000  # rows on which the errors of one training set are counted
MOVES, CHUNK = 200, 10  # training sets of each difference, and how many at a time


def moves_of(population: str, a: str, b: str, n: int, sets: int, rng: torch.Generator) -> np.ndarray:
    """Return the difference of errors after training on a bootstrap sample, on .632 n rows and on all n, for each training set."""
    X, y = POPULATIONS[population](sets, n + FRESH, rng)
    drawn = torch.randint(0, n, (sets, n), generator=rng, device=rng.device)
    W = torch.zeros((sets, 3, n + FRESH), dtype=torch.float64, device=rng.device)
    W[:, 0].scatter_add_(1, drawn, torch.ones_like(drawn, dtype=torch.float64))
    W[:, 1, : round(SUBSAMPLE * n)] = 1
    W[:, 2, :n] = 1
    errors = [
        losses_of("zero-one", y, LEARNERS[learner](X, y, W), learner in ODDS)[:, :, n:].mean(2) for learner in (a, b)
    ]
    return (errors[0] - errors[1]).cpu().numpy().astype(np.float32)


def run(rows: dict[str, np.ndarray], device: str, cases: Iterable[Case] = CASES, moves: int = MOVES) -> Iterator[str]:
    """Add data sets to the rows until every case has its number, each chunk with a generator of its own; yield what is complete."""
    for case in cases:
        step = max(CELLS[device] // ((2 * case.samples + SPLITS) * case.n), 1)
        have = next((len(v) for k, v in rows.items() if k.startswith(f"{case.name}; {case.measures[0]}")), 0)
        for start in range(have, case.sets, step):
            rng = _generator(f"{case.name} {start}", device)
            _add(rows, case.name, differences_of(case, min(step, case.sets - start), rng))
        have = len(rows.get(f"{case.name}; auc: subsamples", ())) if "auc" in case.measures else case.sets
        for start in range(have, case.sets, SETS_AT_ONCE):
            rng = _generator(f"fresh {case.name} {start // SETS_AT_ONCE}", device)
            _add(rows, case.name, set_differences_of(case, min(SETS_AT_ONCE, case.sets - start), rng))
        yield case.name
    for case in (case for case in cases if case.drawn_after):
        mark = f"after: {case.name}"
        for start in range(len(rows.get(f"{mark}; auc: subsamples", ())), case.sets, SETS_AT_ONCE):
            rng = _generator(f"after {case.name} {start // SETS_AT_ONCE}", device)
            _add(rows, mark, set_differences_of(case, min(SETS_AT_ONCE, case.sets - start), rng))
        yield mark
    for population, a, b in PAIRS:
        for n in (50, 100, 200, 400):
            key = f"move: {population}; {a} - {b}; {n}"
            if key in rows or not moves:
                continue
            sizes = [min(CHUNK, moves - first) for first in range(0, moves, CHUNK)]
            parts = [
                moves_of(population, a, b, n, size, _generator(f"{key} {k}", device)) for k, size in enumerate(sizes)
            ]
            rows[key] = np.concatenate(parts)
            yield key


def _add(rows: dict[str, np.ndarray], name: str, made: dict[str, np.ndarray]) -> None:
    for test, new in made.items():
        key = f"{name}; {test}"
        rows[key] = np.concatenate([rows[key], new]) if key in rows else new


def _generator(name: str, device: str) -> torch.Generator:
    return torch.Generator(device=device).manual_seed(crc32(name.encode()))


def reject(key: str, rows: np.ndarray, level: float = 0.05) -> np.ndarray:
    """Return whether each difference is found: by t, with 24 degrees of freedom or those that were kept, or by the normal law."""
    from scipy.special import ndtr, stdtr

    rows = rows.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(rows[:, 0] / rows[:, 1])
    ratio = np.where(np.isnan(ratio), 0.0, ratio)
    if key.endswith("corrected-t"):
        return np.asarray(2 * stdtr(SPLITS - 1, -ratio) < level)
    if key.endswith(("auc: subsamples", "f1: subsamples")):
        return np.asarray(2 * stdtr(rows[:, 2], -ratio) < level)
    return np.asarray(2 * ndtr(-ratio) < level)


TESTS = {"subsamples": "subsampling", "out-of-bag": "out-of-bag", "corrected-t": "corrected-t"}


def tables_of(rows: dict[str, np.ndarray]) -> str:
    """Return the tables of the page as Markdown: sizes, power, widths, and how far differences move."""
    found: dict[tuple[str, str], dict[str, tuple[float, float, int]]] = {}
    for key, values in rows.items():
        if key.startswith(("move", "after")):
            continue
        case, rest = key.split("; ")
        measure, test = rest.split(": ")
        width = float(np.nanmedian(values[:, 1].astype(float)))
        found.setdefault((case, measure), {})[test] = (float(reject(key, values).mean()), width, len(values))
    null = {k: v for k, v in found.items() if not any(name in k[0] for name in ("unequal", "shared"))}
    lines = [
        "## Found at .05 though neither is better",
        "",
        *_rates(null),
        "",
        "## Deep trees, by `subsampling`, in a draw after the choice",
        "",
        *_rates_after(rows),
        "",
        "## Found at .05 where the first is better",
        "",
    ]
    lines += [*_rates({k: v for k, v in found.items() if k not in null}), "", "## How far a difference moves", ""]
    head = "| population | models | n | trained on a bootstrap sample | on .632 n rows | on all n | standard error |"
    lines += [head, "|---|---|---|---|---|---|---|"]
    for key, values in rows.items():
        if key.startswith("move: "):
            population, models, n = key.removeprefix("move: ").split("; ")
            means = " | ".join(f"{100 * m:+.1f}" for m in values.astype(float).mean(axis=0))
            error = 100 * float((values[:, 1] - values[:, 2]).std()) / np.sqrt(len(values))
            lines.append(f"| {population} | {models} | {n} | {means} | {error:.1f} |")
    return "\n".join(lines)


def _rates(found: dict[tuple[str, str], dict[str, tuple[float, float, int]]]) -> list[str]:
    head = (
        "| learner, population, rows | measure | "
        + " | ".join(TESTS.values())
        + " | width of subsampling to corrected-t | data sets |"
    )
    lines = [head, "|---|---|" + "---|" * (len(TESTS) + 2)]
    for (case, measure), made in found.items():
        rates = " | ".join(f"{made[test][0]:.3f}" for test in TESTS)
        width = made["subsamples"][1] * 1.960 / (made["corrected-t"][1] * 2.064)
        lines.append(f"| {case} | {measure} | {rates} | {width:.2f} | {made['subsamples'][2]:,} |")
    return lines


def _rates_after(rows: dict[str, np.ndarray]) -> list[str]:
    """Return the table of the draw that no constant was chosen on, with limits of two standard errors."""
    lines = [
        "| learner, population, rows | measure | found | two standard errors | data sets |",
        "|---|---|---|---|---|",
    ]
    for key, values in rows.items():
        if key.startswith("after: "):
            case, test = key.removeprefix("after: ").split("; ")
            rate = float(reject(key, values).mean())
            error = 2 * np.sqrt(rate * (1 - rate) / len(values))
            lines.append(f"| {case} | {test.split(': ')[0]} | {rate:.3f} | {error:.3f} | {len(values):,} |")
    return lines


def write(rows: dict[str, np.ndarray], page: Path = PAGE) -> None:
    """Put the tables between the markers of the documentation page."""
    start, end = "<!-- compare_sizes: begin -->", "<!-- compare_sizes: end -->"
    head, rest = page.read_text().split(start)
    page.write_text(f"{head}{start}\n{tables_of(rows)}\n{end}{rest.split(end)[1]}")


def main() -> None:
    """Run what is asked for and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sets", type=int, default=None, help="most data sets of a case")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument(
        "--quick", action="store_true", help="a few small data sets of every case; prints the tables and stores nothing"
    )
    options: Any = parser.parse_args()
    cases = [case for case in CASES if options.only in case.name]
    if options.quick:
        made: dict[str, np.ndarray] = {}
        for _ in run(
            made, options.device, [replace(case, sets=2, samples=case.samples // 10) for case in cases], moves=2
        ):
            pass
        print(tables_of(made))
        return
    rows = dict(np.load(options.rows)) if options.rows.exists() else {}
    if options.sets is not None:
        cases = [replace(case, sets=min(options.sets, case.sets)) for case in cases]
    if options.sets != 0:
        for name in run(rows, options.device, cases, 0 if options.only else MOVES):
            np.savez_compressed(options.rows, **rows)  # type: ignore[arg-type]
            print(name, flush=True)
    write(rows)


if __name__ == "__main__":
    main()
