"""From the runs of `choose_combination` to weights, tables and the evidence that is shipped.

A cell is a data set, a rule and a sample size. What is minimised and shown is the RMS of a cell, averaged over cells, so
that every data set counts the same.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.small_samples import FAMILY_OF, LARGEST_TEST, SHARED
from unseen.core.evidence import FEW_SETS, dimension_band, error_band
from unseen.core.summary import Summary, summarize

HERE = Path(__file__).parent
RUNS = HERE / "combination_runs.csv.gz"
EVIDENCE = HERE.parent / "src" / "unseen" / "core" / "evidence.csv"
WEIGHTS = EVIDENCE.with_name("weights.csv")
TABLES = HERE.parent / "docs" / "tables"
MAIN_SIZE = 40
LEAST_DRAWS = 1
DIRECT = ("resub", "bolster", "semi-bolster", "posterior", "bolster-posterior", "bolster-posterior-accuracy",
          "naive-bayes-bolster", "bayesian")  # fmt: skip
RESAMPLED = ("kfold", "bootstrap-zero", "bootstrap-loo", "632", "632plus")
SINGLES = (*DIRECT, *RESAMPLED)
# linear in the losses of one bootstrap run; 10-fold cross-validation would be a second run
ONE_RUN = ("bootstrap-zero", "632")
POOLS = {"combined": (*DIRECT, *ONE_RUN), "auto-resub": DIRECT}
LEAST_WEIGHT = 0.03  # mean weight over rules below which a part is dropped
FAMILY_OF_RULE = {
    "linear-svm": "linear",
    "rbf-svm": "kernel",
    "cart": "tree",
    "3nn": "neighbours",
    "gaussian-nb": "generative",
}
N_FOLDS = 12
Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class Cells:
    """First and second moments of all deviations from the true error, cell by cell."""

    name: np.ndarray
    set: np.ndarray
    group: np.ndarray
    rule: np.ndarray
    n: np.ndarray
    d: np.ndarray
    classes: np.ndarray
    count: np.ndarray
    truth: np.ndarray
    means: np.ndarray
    moments: np.ndarray

    def where(self, mask: np.ndarray) -> Cells:
        """Return the cells of a mask."""
        return Cells(*(getattr(self, f.name)[mask] for f in fields(self)))

    def comparable(self) -> Cells:
        """Return the cells with deviations scaled to the main sample size, for fitting on all sizes at once."""
        scale = np.sqrt(self.n / MAIN_SIZE)
        return replace(self, means=self.means * scale[:, None], moments=self.moments * (scale**2)[:, None, None])

    @property
    def real(self) -> np.ndarray:
        """Whether the data are real."""
        return np.array([not s.startswith("population/") for s in self.set])

    def rms(self, names: Sequence[str], weights: np.ndarray) -> np.ndarray:
        """Return the RMS of a weighted mean in each cell."""
        index = [SINGLES.index(name) for name in names]
        part = self.moments[:, index][:, :, index]
        return np.sqrt(np.einsum("i,cij,j->c", weights, part, weights))

    def bias(self, names: Sequence[str], weights: np.ndarray) -> np.ndarray:
        """Return the mean deviation of a weighted mean in each cell."""
        return np.asarray(self.means[:, [SINGLES.index(name) for name in names]] @ weights)

    def judged(self, names: Sequence[str], weights: Weights) -> np.ndarray:
        """Return RMS and bias in each cell, the weights chosen by its rule."""
        out = np.empty((len(self.name), 2))
        for rule in np.unique(self.rule):
            own = self.rule == rule
            cells = self.where(own)
            out[own, 0], out[own, 1] = cells.rms(names, weights[rule]), cells.bias(names, weights[rule])
        return out


def load() -> tuple[list[dict[str, str]], Cells]:
    """Read all parts of the study, pack them into one file, and return the rows and their cells."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for path in (RUNS, *sorted(HERE.glob("combination_runs*.csv"))):
        if path.exists():
            with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
                rows |= {(r["set"], r["n"], r["rule"], r["draw"]): r for r in csv.DictReader(file) if r["632plus"]}
    ordered = [rows[key] for key in sorted(rows)]
    lines = [",".join(ordered[0]), *(",".join(r.values()) for r in ordered)]
    with gzip.GzipFile(RUNS, "wb", mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())
    label = np.array([f"{r['set']} {r['rule']} {r['n']}" for r in ordered])
    deviation = np.array([[float(r[c]) - float(r["truth"]) for c in SINGLES] for r in ordered])
    parts = []
    for name in np.unique(label):
        own = np.flatnonzero(label == name)
        first = ordered[own[0]]
        if len(own) >= LEAST_DRAWS:
            about = (first["set"], FAMILY_OF[first["set"]], first["rule"], int(first["n"]), int(float(first["d"])))
            moments = deviation[own].T @ deviation[own] / len(own)
            truth = float(np.mean([float(ordered[k]["truth"]) for k in own]))
            parts.append(
                (name, *about, int(float(first["classes"])), len(own), truth, deviation[own].mean(axis=0), moments)
            )
    return ordered, Cells(*(np.array(column) for column in zip(*parts)))


def weights_of(cells: Cells, names: Sequence[str]) -> np.ndarray:
    """Return weights of at least 0 that sum to 1 and minimise the mean squared deviation over cells."""
    index = [SINGLES.index(name) for name in names]
    moments = cells.moments.mean(axis=0)[np.ix_(index, index)]
    values, vectors = np.linalg.eigh(moments)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    heavy = 1e3 * np.sqrt(np.trace(moments))  # a heavy row keeps the sum at 1
    solution, _ = nnls(np.vstack([root, np.full(len(names), heavy)]), np.append(np.zeros(len(names)), heavy))
    return np.asarray(solution / solution.sum())


def by_rule(cells: Cells, names: Sequence[str]) -> Weights:
    """Return weights for each rule, fitted on its own cells."""
    return {rule: weights_of(cells.where(cells.rule == rule), names) for rule in np.unique(cells.rule)}


def members_of(cells: Cells, recipe: str) -> tuple[str, ...]:
    """Return the parts of the pool that keep a weight worth having when all are fitted together."""
    pool = POOLS[recipe]
    mean = np.mean(list(by_rule(cells, pool).values()), axis=0)
    return tuple(name for name, weight in zip(pool, mean) if weight >= LEAST_WEIGHT)


def held_out(cells: Cells, judged: Cells, recipe: str, fixed: Sequence[str] | None = None) -> np.ndarray:
    """Return each judged cell's RMS and bias by members and weights that never saw a data set of its group.

    `cells` are fitted on, `judged` are judged; with `fixed` only the weights are fitted.
    """
    groups = np.unique(np.concatenate([cells.group, judged.group]))
    fold = {group: k % N_FOLDS for k, group in enumerate(groups)}
    fitted_on, judged_in = (np.array([fold[g] for g in c.group]) for c in (cells, judged))
    out = np.empty((len(judged.name), 2))
    for k in range(N_FOLDS):
        rest, inside = cells.where(fitted_on != k), judged_in == k
        names = tuple(fixed) if fixed else members_of(rest, recipe)
        out[inside] = judged.where(inside).judged(names, by_rule(rest, names))
    return out


def rounded(weights: np.ndarray) -> np.ndarray:
    """Return weights in steps of .01 that still sum to 1."""
    steps = np.round(weights * 100)
    steps[np.argmax(weights)] += 100 - steps.sum()
    return steps / 100


def shipped(cells: Cells, recipe: str) -> dict[str, dict[str, float]]:
    """Return the weights to be shipped, by family of rules and for any other rule, fitted on everything."""
    names = members_of(cells, recipe)
    own = by_rule(cells, names)
    table = {FAMILY_OF_RULE[rule]: own[rule] for rule in FAMILY_OF_RULE} | {"any": weights_of(cells, names)}
    return {family: dict(zip(names, (float(v) for v in rounded(w)))) for family, w in table.items()}


def summaries(rows: list[dict[str, str]], cells: Cells) -> dict[str, Summary]:
    """Return bias, deviation variance and RMS of the single estimators over the rows of some cells."""
    names = set(cells.name)
    kept = [r for r in rows if f"{r['set']} {r['rule']} {r['n']}" in names]
    strata = [f"{r['set']} {r['rule']}" for r in kept]
    truth = [float(r["truth"]) for r in kept]
    return {c: summarize([float(r[c]) for r in kept], truth, c, strata=strata) for c in SINGLES}


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def grouped(found: Mapping[str, np.ndarray], label: np.ndarray, order: Sequence[object]) -> list[list[str]]:
    """Return the mean RMS of every estimator within each group of cells."""
    return [[name, *(f"{rms[label == g].mean():.3f}" for g in order)] for name, rms in found.items()]


def pooled(found: Mapping[str, np.ndarray], label: np.ndarray, order: Sequence[object]) -> list[list[str]]:
    """Return the root of the mean squared RMS within each group, which also serves where cells have single draws."""
    return [[name, *(f"{np.sqrt(np.mean(rms[label == g] ** 2)):.3f}" for g in order)] for name, rms in found.items()]


def noise_of(cells: Cells) -> np.ndarray:
    """Return the variance of the "true" error itself, which rests on the rows that were not drawn."""
    with (SHARED / "MANIFEST.csv").open(newline="") as file:
        size = {row["name"]: int(row["n"]) for row in csv.DictReader(file) if row["n"]}
    left = np.array([min(size.get(s, 10**9) - n, LARGEST_TEST) for s, n in zip(cells.set, cells.n)])
    return np.asarray(cells.truth * (1 - cells.truth) / (left - 1))


def evidence_rows(cells: Cells, found: Mapping[str, np.ndarray]) -> list[str]:
    """Return the lines of the shipped table: pooled RMS in every situation, with the groups of data sets behind it.

    Here the noise of the true error itself is taken off, since the user's true error has none.
    """
    noise = noise_of(cells)
    family = np.array([FAMILY_OF_RULE[r] for r in cells.rule])
    band = np.array([dimension_band(int(d)) for d in cells.d])
    classes = np.where(cells.classes == 2, "2", "3 or more")
    level = np.array([error_band(float(t)) for t in cells.truth])
    whole = np.full(len(family), "any")
    situations = (
        (family, band, classes, level), (family, whole, classes, level), (family, whole, whole, level),
        (whole, whole, whole, level), (whole,) * 4,
        (family, band, classes, whole), (family, whole, classes, whole), (family, whole, whole, whole),
    )  # fmt: skip
    lines = []
    for keys in situations:
        label = np.array([",".join(map(str, key)) for key in zip(cells.n, *keys)])
        for one in np.unique(label):
            inside = label == one
            groups = len(np.unique(cells.group[inside]))
            if groups < FEW_SETS:
                continue
            for name, rms in found.items():
                square = max(float(np.mean((rms**2 - noise)[inside])), 1e-4)
                lines.append(f"{name},{one},{np.sqrt(square):.4f},{groups}")
    return sorted(lines)


def write_tables() -> None:
    """Write the tables of the documentation and the shipped evidence, and the recipes' weights."""
    rows, cells = load()
    main = cells.where(cells.n == MAIN_SIZE)
    found = {name: main.rms([name], np.ones(1)) for name in SINGLES}
    fitted_on = cells.comparable()
    nested = {recipe: held_out(fitted_on, main, recipe) for recipe in POOLS}
    found |= {recipe: both[:, 0] for recipe, both in nested.items()}
    real = {name: rms[main.real] for name, rms in found.items()}
    order = sorted(real, key=lambda name: real[name].mean())
    bias = {recipe: float(both[main.real, 1].mean()) for recipe, both in nested.items()}
    text = _main_tables(rows, main, {name: found[name] for name in order}, bias)
    weights = {recipe: shipped(fitted_on, recipe) for recipe in POOLS}
    by_size = {name: cells.rms([name], np.ones(1)) for name in SINGLES}
    by_size |= {recipe: held_out(fitted_on, cells, recipe, tuple(weights[recipe]["any"]))[:, 0] for recipe in POOLS}
    sizes = sorted(np.unique(cells.n))
    size_rows = pooled({k: by_size[k][cells.real] for k in order}, cells.n[cells.real], sizes)
    text += [
        "Pooled RMS on real sets by sample size:",
        markdown(["estimator", *(f"n = {n}" for n in sizes)], size_rows),
    ]
    TABLES.mkdir(exist_ok=True)
    (TABLES / "small_samples.md").write_text("\n\n".join(text) + "\n")
    combination = _combination_table(real, weights)
    (TABLES / "combination.md").write_text(combination)
    source = (
        "# RMS of estimators against the true error, recipes on held-out data sets; benchmarks/choose_combination.py"
    )
    head = [source, "estimator,n,family,features,classes,error,rms,sets"]
    EVIDENCE.write_text("\n".join([*head, *evidence_rows(cells, by_size)]) + "\n")
    lines = [f"{r},{f},{m},{w:g}" for r, table in weights.items() for f, own in table.items() for m, w in own.items()]
    head = ["# Weights of recipes by family of rules; benchmarks/choose_combination.py", "recipe,family,method,weight"]
    WEIGHTS.write_text("\n".join([*head, *lines]) + "\n")
    print("\n\n".join([*text, combination]))


def _main_tables(
    rows: list[dict[str, str]], main: Cells, found: Mapping[str, np.ndarray], bias: Mapping[str, float]
) -> list[str]:
    real = main.where(main.real)
    about = summaries(rows, real)
    lines = []
    for name, rms in found.items():
        own = rms[main.real]
        if name in about:
            s = about[name]
            lines.append(
                [name, f"{s.bias:+.3f}", f"{s.variance:.4f}", f"{s.rms:.4f} ({s.rms_error:.4f})", f"{own.mean():.4f}"]
            )
        else:
            pooled = float(np.mean(own**2))
            shown = [f"{bias[name]:+.3f}", f"{pooled - bias[name] ** 2:.4f}", f"{np.sqrt(pooled):.4f}"]
            lines.append([name, *shown, f"{own.mean():.4f}"])
    kinds = {"uci": "tables", "fd121": "tables", "genomics": "expression", "population": "simulated"}
    kind = np.array([kinds[s.split("/")[0]] for s in main.set])
    size = (
        f"n = {MAIN_SIZE} rows drawn, true error on the rest: {len(np.unique(real.set))} real data sets of {len(np.unique(real.group))} "
        f"families, {len(np.unique(real.rule))} rules, {real.count.min()} to {real.count.max()} draws of each, {real.count.sum()} samples in all."
    )
    rules = grouped({k: v[main.real] for k, v in found.items()}, real.rule, list(FAMILY_OF_RULE))
    return [
        size,
        markdown(
            ["estimator", "bias", "variance of the deviation", "pooled RMS (Monte-Carlo error)", "mean RMS"], lines
        ),
        "Mean RMS on real sets by rule:",
        markdown(["estimator", *FAMILY_OF_RULE], rules),
        "Mean RMS by kind of data:",
        markdown(
            ["estimator", *dict.fromkeys(kinds.values())], grouped(found, kind, list(dict.fromkeys(kinds.values())))
        ),
    ]


def _combination_table(real: Mapping[str, np.ndarray], weights: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    best = min(SINGLES, key=lambda name: real[name].mean())
    direct = min(DIRECT, key=lambda name: real[name].mean())
    rows = []
    for recipe, rival in (("combined", best), ("auto-resub", direct)):
        gain = 1 - real[recipe] / real[rival].mean()
        paired = real[recipe] - real[rival]
        error = paired.std(ddof=1) / np.sqrt(len(paired)) / real[rival].mean()
        rows.append(
            [
                recipe,
                f"{real[recipe].mean():.4f}",
                rival,
                f"{real[rival].mean():.4f}",
                f"{100 * gain.mean():.1f}% ({100 * error:.1f}%)",
            ]
        )
    text = markdown(
        ["recipe", "held-out mean RMS", "best single", "its mean RMS", "below it by (standard error over cells)"], rows
    )
    parts = []
    for recipe, table in weights.items():
        names = list(table["any"])
        lines = [[family, *(f"{w[n]:g}" for n in names)] for family, w in table.items()]
        parts.append(f"Weights of `{recipe}`, by family of rules:\n\n" + markdown(["family", *names], lines))
    return "\n\n".join([text, *parts]) + "\n"
