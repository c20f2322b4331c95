"""From the runs of `choose_combination` to weights, tables and the evidence that is shipped."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.small_samples import FAMILY_OF
from unseen.core.evidence import dimension_band
from unseen.core.summary import summarize

HERE = Path(__file__).parent
RUNS = HERE / "combination_runs.csv.gz"
EVIDENCE = HERE.parent / "src" / "unseen" / "core" / "evidence.csv"
TABLES = HERE.parent / "docs" / "tables"
MAIN_SIZE = 40
LEAST_DRAWS = 5
DIRECT = ("resub", "bolster", "semi-bolster", "posterior", "bolster-posterior", "bolster-posterior-accuracy",
          "naive-bayes-bolster", "bayesian")  # fmt: skip
RESAMPLED = ("kfold", "bootstrap-zero", "bootstrap-loo", "632", "632plus")
# one resampling run serves all four; 10-fold cross-validation would be a second one
ONE_RUN = ("bootstrap-zero", "632", "632plus")
MOST_PARTS = 3
FAMILY_OF_RULE = {
    "linear-svm": "linear",
    "rbf-svm": "kernel",
    "cart": "tree",
    "3nn": "neighbours",
    "gaussian-nb": "generative",
}


class Runs:
    """The rows of the study as arrays."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.set = np.array([r["set"] for r in rows])
        self.rule = np.array([r["rule"] for r in rows])
        self.n, self.d, self.classes = (np.array([int(float(r[k])) for r in rows]) for k in ("n", "d", "classes"))
        self.truth = np.array([float(r["truth"]) for r in rows])
        skip = {"set", "rule", "n", "d", "classes", "truth", "draw"}
        self.columns = {k: np.array([float(r[k]) for r in rows]) for k in rows[0] if k not in skip}
        self.family = np.array([FAMILY_OF[s] for s in self.set])
        self.real = np.array([not s.startswith("population/") for s in self.set])
        self.cell = np.array([f"{s} {r} {n}" for s, r, n in zip(self.set, self.rule, self.n)])

    def where(self, mask: np.ndarray) -> Runs:
        """Return the rows of a mask."""
        new = object.__new__(Runs)
        for name, value in self.__dict__.items():
            new.__dict__[name] = value[mask] if name != "columns" else {k: v[mask] for k, v in value.items()}
        return new

    def deviations(self, names: Sequence[str]) -> np.ndarray:
        """Return estimate minus truth, one column per name."""
        return np.stack([self.columns[name] - self.truth for name in names], axis=1)

    def mean_rms(self, deviation: np.ndarray) -> float:
        """Return the RMS of each cell (set and rule), averaged over cells."""
        _, index = np.unique(self.cell, return_inverse=True)
        return float(np.mean(np.sqrt(np.bincount(index, deviation**2) / np.bincount(index))))


def load() -> Runs:
    """Read all parts of the study, join them into one packed file, and leave out cells with too few draws."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for path in (RUNS, *sorted(HERE.glob("combination_runs*.csv"))):
        if path.exists():
            with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
                rows |= {(r["set"], r["n"], r["rule"], r["draw"]): r for r in csv.DictReader(file) if r["632plus"]}
    ordered = [rows[key] for key in sorted(rows)]
    with gzip.GzipFile(RUNS, "wb", mtime=0) as packed:
        lines = [",".join(ordered[0]), *(",".join(r.values()) for r in ordered)]
        packed.write(("\n".join(lines) + "\n").encode())
    runs = Runs(ordered)
    _, index, count = np.unique(runs.cell, return_inverse=True, return_counts=True)
    return runs.where(count[index] >= LEAST_DRAWS)


def weights_of(runs: Runs, names: Sequence[str]) -> np.ndarray:
    """Return weights of at least 0 that sum to 1 and minimise the mean squared deviation, every cell counting the same."""
    _, index, count = np.unique(runs.cell, return_inverse=True, return_counts=True)
    scale = 1 / np.sqrt(count[index])
    A = runs.deviations(names) * scale[:, None]
    # a heavy row makes the sum 1; the deviation of the weighted sum is then the weighted sum of deviations
    heavy = 1e3 * np.sqrt(len(count))
    solution, _ = nnls(np.vstack([A, np.full(len(names), heavy)]), np.append(np.zeros(len(A)), heavy))
    return solution / solution.sum()


def members_of(runs: Runs, pools: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the best members and weights, trying every subset of every pool."""
    best: tuple[float, tuple[str, ...], np.ndarray] | None = None
    for pool in pools:
        for size in range(2, MOST_PARTS + 1):
            for names in combinations(pool, size):
                w = weights_of(runs, names)
                rms = runs.mean_rms(runs.deviations(names) @ w)
                if best is None or rms < best[0] - 1e-5 * (size > len(best[1])):
                    best = (rms, names, w)
    assert best is not None
    return best[1], best[2]


def held_out(runs: Runs, pools: Sequence[Sequence[str]], fixed: Sequence[str] | None = None) -> np.ndarray:
    """Return the deviations of a combination whose members and weights never saw the family they are judged on."""
    out = np.empty(len(runs.truth))
    for family in np.unique(runs.family):
        inside = runs.family == family
        rest = runs.where(~inside)
        names, w = (tuple(fixed), weights_of(rest, fixed)) if fixed else members_of(rest, pools)
        out[inside] = runs.where(inside).deviations(names) @ w
    return out


COMBINED_POOLS = [(*DIRECT[1:], one) for one in ONE_RUN]
AUTO_POOLS = [DIRECT]


def rounded(w: np.ndarray) -> np.ndarray:
    """Return weights in steps of .05 that still sum to 1."""
    steps = np.round(w * 20)
    steps[np.argmax(w)] += 20 - steps.sum()
    return steps / 20


def choose(runs: Runs) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Return members and rounded weights of both recipes, fitted on every family at the main size."""
    main = runs.where(runs.n == MAIN_SIZE)
    out = {}
    for name, pools in (("combined", COMBINED_POOLS), ("auto-resub", AUTO_POOLS)):
        members, w = members_of(main, pools)
        kept = [m for m, share in zip(members, rounded(w)) if share > 0]
        out[name] = (tuple(kept), rounded(weights_of(main, kept)))
    return out


def judge(runs: Runs) -> dict[str, np.ndarray]:
    """Return the deviations of every estimator; combinations are held out family by family, members included."""
    found = {
        name: runs.deviations([name])[:, 0] for name in (*DIRECT, *RESAMPLED) if not np.isnan(runs.columns[name]).any()
    }
    found["combined"] = held_out(runs, COMBINED_POOLS)
    found["auto-resub"] = held_out(runs, AUTO_POOLS)
    return found


def summary_rows(runs: Runs, found: dict[str, np.ndarray]) -> list[list[str]]:
    """Return estimator, bias, deviation variance and mean RMS over the cells, the smallest RMS first."""
    rows = []
    for name, deviation in found.items():
        s = summarize(deviation, np.zeros(len(deviation)), name, strata=runs.cell)
        within = np.mean([deviation[runs.cell == c].var(ddof=1) for c in np.unique(runs.cell)])
        rows.append(
            (runs.mean_rms(deviation), [name, f"{s.bias:+.3f}", f"{within:.4f}", f"{runs.mean_rms(deviation):.4f}"])
        )
    return [row for _, row in sorted(rows, key=lambda r: r[0])]


def by_group(runs: Runs, found: dict[str, np.ndarray], groups: np.ndarray, order: Sequence[str]) -> list[list[str]]:
    """Return the mean RMS of every estimator within each group."""
    rows = []
    for name, deviation in found.items():
        rows.append([name, *(f"{runs.where(groups == g).mean_rms(deviation[groups == g]):.3f}" for g in order)])
    return rows


def markdown(head: Sequence[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def source_of(runs: Runs) -> np.ndarray:
    """Return the kind of data behind each row."""
    kinds = {"uci": "tables", "fd121": "tables", "genomics": "expression", "population": "simulated"}
    return np.array([kinds[s.split("/")[0]] for s in runs.set])


def size_line(runs: Runs) -> str:
    """Return what a table was made from."""
    draws = np.unique(runs.cell, return_counts=True)[1]
    return (
        f"{len(np.unique(runs.set))} data sets of {len(np.unique(runs.family))} families, {len(np.unique(runs.rule))} rules, "
        f"{draws.min()} to {draws.max()} draws of each, {len(runs.truth)} samples in all."
    )


def evidence_rows(runs: Runs, found: dict[str, np.ndarray]) -> list[str]:
    """Return the lines of the shipped table: pooled RMS in every situation with enough families behind it."""
    family = np.array([FAMILY_OF_RULE[r] for r in runs.rule])
    band = np.array([dimension_band(int(d)) for d in runs.d])
    classes = np.where(runs.classes == 2, "2", "3 or more")
    anything = np.full(len(family), "any")
    lines = []
    for keys in ((family, band, classes), (family, anything, classes), (family, anything, anything), (anything,) * 3):
        label = np.array([f"{n}|{a}|{b}|{c}" for n, a, b, c in zip(runs.n, *keys)])
        for one in np.unique(label):
            inside = label == one
            n, *words = one.split("|")
            part = runs.where(inside)
            _, index, count = np.unique(part.cell, return_inverse=True, return_counts=True)
            for name, deviation in found.items():
                rms = np.sqrt(np.mean(np.bincount(index, deviation[inside] ** 2) / count))
                lines.append(f"{name},{n},{','.join(words)},{rms:.4f},{len(np.unique(part.family))}")
    return lines


def fixed_deviations(runs: Runs, recipes: dict[str, tuple[tuple[str, ...], np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the deviations of the shipped recipes, weights refitted without the family they are judged on."""
    main, out = runs.where(runs.n == MAIN_SIZE), {}
    for recipe, (members, _) in recipes.items():
        deviation = np.empty(len(runs.truth))
        for one in np.unique(runs.family):
            inside = runs.family == one
            w = weights_of(main.where(main.family != one), members)
            deviation[inside] = runs.where(inside).deviations(members) @ w
        out[recipe] = deviation
    return out


def write_tables() -> None:
    """Write the tables of the documentation and the shipped evidence, and print the weights for the recipes' files."""
    runs = load()
    recipes = choose(runs)
    main = runs.where((runs.n == MAIN_SIZE) & runs.real)
    found = judge(runs.where(runs.n == MAIN_SIZE))
    real = {k: v[runs.where(runs.n == MAIN_SIZE).real] for k, v in found.items()}
    rows = summary_rows(main, real)
    singles = [r for r in rows if r[0] not in recipes]
    best = float(singles[0][3])
    gains = {name: 1 - main.mean_rms(real[name]) / best for name in recipes}
    TABLES.mkdir(exist_ok=True)
    shown = [r[0] for r in rows]
    rule_rows = by_group(main, {k: real[k] for k in shown}, main.rule, list(FAMILY_OF_RULE))
    every = runs.where(runs.n == MAIN_SIZE)
    kind_rows = by_group(every, {k: found[k] for k in shown}, source_of(every), ["tables", "expression", "simulated"])
    sizes = sorted(np.unique(runs.n))
    judged = {name: runs.deviations([name])[:, 0] for name in shown if name not in recipes} | fixed_deviations(
        runs, recipes
    )
    size_rows = by_group(
        runs.where(runs.real), {k: judged[k][runs.real] for k in shown}, runs.where(runs.real).n, sizes
    )
    text = [
        f"n = {MAIN_SIZE} rows drawn, true error on the rest. {size_line(main)}",
        markdown(["estimator", "bias", "variance", "mean RMS"], rows),
        "Mean RMS by rule:",
        markdown(["estimator", *FAMILY_OF_RULE], rule_rows),
        "Mean RMS by kind of data:",
        markdown(["estimator", "tables", "expression", "simulated"], kind_rows),
        "Mean RMS on real sets by sample size:",
        markdown(["estimator", *(f"n = {n}" for n in sizes)], size_rows),
    ]
    (TABLES / "small_samples.md").write_text("\n\n".join(text) + "\n")
    members = [[name, " + ".join(f"{w:g} {m}" for m, w in zip(*recipes[name])), f"{main.mean_rms(real[name]):.4f}",
                singles[0][0], f"{best:.4f}", f"{100 * gains[name]:.1f}%"] for name in recipes]  # fmt: skip
    head = ["recipe", "shipped members and weights", "held-out mean RMS", "best single", "its mean RMS", "below it by"]
    (TABLES / "combination.md").write_text(markdown(head, members) + "\n")
    lines = evidence_rows(runs, judged)
    source = "# RMS of estimators against the true error on held-out families; benchmarks/choose_combination.py"
    EVIDENCE.write_text("\n".join([source, "estimator,n,family,features,classes,rms,sets", *lines]) + "\n")
    print("\n\n".join([*text, markdown(head, members)]))
