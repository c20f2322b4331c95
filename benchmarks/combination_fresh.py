"""Judges `combined`, with the weights as shipped, on data sets that no choice about it has seen; and tells what any weights could reach.

    python -m benchmarks.combination_fresh run --minutes 20 --part 0/2   # resumable; writes combination_fresh.csv.gz
    python -m benchmarks.combination_fresh judge                         # writes docs/tables/combination_fresh.md and combination_ceiling.md

Fixed, and committed, before a figure was seen:

- Sets: every classification table of the shared data with numbers and nothing missing, two to four classes, at least 100 rows, and no common source with a set of
  `small_samples` (Wisconsin breast cancer, SPECT, heart, DNA, sonar, credit and the like are left out). Ten draws of n = 40 rows each, the five rules, all as in `choose_combination`.
- The figure: mean RMS over cells (set and rule) of `combined` as shipped, against the single estimator that turns out best on these sets; standard error over families.
- The ceiling is a figure of the old study: weights fitted to the very cells they are judged on, which no recipe that is judged on other data can beat but by luck.

Added when that figure was known: the same for sets of three kinds. The old study had left out sets with a class below 10% and with many rows that repeat others; the rule above does not.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

from benchmarks.choose_combination import COLUMNS, keys_in, one
from benchmarks.combination_by_level import rms_of, samples
from benchmarks.combination_tables import (
    DIRECT,
    FAMILY_OF_RULE,
    MAIN_SIZE,
    POOLS,
    RESAMPLED,
    SINGLES,
    TABLES,
    WEIGHTS,
    load,
    markdown,
)
from benchmarks.combination_try import error_over_families, weights_of
from benchmarks.small_samples import LARGEST_TEST, RULES, table
from unseen.core.evidence import MANY_EQUAL, RARE_CLASS, expected

HERE = Path(__file__).parent
PACKED = HERE / "combination_fresh.csv.gz"
DRAWS = 10
FAMILIES: dict[str, tuple[str, ...]] = {
    "acute": ("fd121/acute-inflammation", "fd121/acute-nephritis"),
    "balance-scale": ("fd121/balance-scale",),
    "blood": ("fd121/blood",),
    "bridges": (
        "fd121/pittsburg-bridges-MATERIAL",
        "fd121/pittsburg-bridges-REL-L",
        "fd121/pittsburg-bridges-T-OR-D",
    ),
    "car": ("fd121/car",),
    "cardiotocography": ("fd121/cardiotocography-3clases",),
    "christensen": ("genomics/christensen",),
    "echocardiogram": ("fd121/echocardiogram",),
    "fertility": ("fd121/fertility",),
    "hayes-roth": ("uci/hayes-roth",),
    "hepatitis": ("fd121/hepatitis",),
    "iris": ("fd121/iris",),
    "mammographic": ("fd121/mammographic",),
    "monks": ("uci/monks-1", "uci/monks-2", "uci/monks-3"),
    "mushroom": ("fd121/mushroom",),
    "ozone": ("fd121/ozone",),
    "parkinsons": ("fd121/parkinsons",),
    "planning": ("fd121/planning",),
    "promoter": ("fd121/molec-biol-promoter",),
    "teaching": ("fd121/teaching",),
    "thyroid": ("uci/thyroid-ann",),
    "titanic": ("fd121/titanic",),
    "voting": ("fd121/congressional-voting",),
    "wall-following": ("fd121/wall-following",),
    "wine": ("fd121/wine",),
}
FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names}


def run(minutes: float, part: int, parts: int) -> None:
    """Append rows until the time is used up; what is there already is not run again."""
    path = HERE / f"combination_fresh.{part}.csv"
    done = keys_in(PACKED) | keys_in(path)
    end = time.process_time() + 60 * minutes
    tasks = [(name, rule, k) for k in range(DRAWS) for name in FAMILY_OF for rule in RULES]
    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with path.open("a", newline="") as file, threadpool_limits(1), quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = csv.DictWriter(file, ["set", "n", "rule", "draw", "d", "classes", "truth", *COLUMNS])
        if file.tell() == 0:
            writer.writeheader()
        for name, rule, k in tasks[part::parts]:
            if (name, MAIN_SIZE, rule, k) in done:
                continue
            if time.process_time() > end:
                break
            row = one(name, MAIN_SIZE, rule, k)
            if row is not None:
                about = {"set": name, "n": MAIN_SIZE, "rule": rule, "draw": k}
                writer.writerow({**about, **{c: f"{v:.6g}" for c, v in row.items()}})
                file.flush()


def stored() -> list[dict[str, str]]:
    """Return all rows, after packing what the parts of a run have left into one file."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    parts = sorted(HERE.glob("combination_fresh.*.csv"))
    for path in (PACKED, *parts):
        if path.exists():
            with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
                rows |= {(r["set"], r["rule"], r["draw"]): r for r in csv.DictReader(file) if r["632plus"]}
    ordered = [rows[key] for key in sorted(rows)]
    with gzip.GzipFile(PACKED, "wb", mtime=0) as packed:
        packed.write(("\n".join([",".join(ordered[0]), *(",".join(r.values()) for r in ordered)]) + "\n").encode())
    for path in parts:
        path.unlink()
    return ordered


def shipped_weights(recipe: str) -> dict[str, np.ndarray]:
    """Return the weights of the package by rule, over all single estimators."""
    found = {rule: np.zeros(len(SINGLES)) for rule in FAMILY_OF_RULE}
    with WEIGHTS.open(newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            for rule, family in FAMILY_OF_RULE.items():
                if (row["recipe"], row["family"]) == (recipe, family):
                    found[rule][SINGLES.index(row["method"])] = float(row["weight"])
    return found


def fresh_rms(rows: list[dict[str, str]]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the RMS of every estimator in every cell, and the cells' families."""
    deviation = np.array([[float(r[c]) - float(r["truth"]) for c in SINGLES] for r in rows])
    for recipe in POOLS:
        weights = shipped_weights(recipe)
        own = [deviation[k, : len(SINGLES)] @ weights[r["rule"]] for k, r in enumerate(rows)]
        deviation = np.column_stack([deviation, own])
    cell = np.array([f"{r['set']} {r['rule']}" for r in rows])
    cells, first = np.unique(cell, return_index=True)
    rms = {
        name: np.array([np.sqrt(np.mean(deviation[cell == c, k] ** 2)) for c in cells])
        for k, name in enumerate((*SINGLES, *POOLS))
    }
    return rms, np.array([FAMILY_OF[rows[k]["set"]] for k in first])


def gain_over(rms: dict[str, np.ndarray], name: str, rivals: tuple[str, ...], group: np.ndarray) -> list[str]:
    """Return how far an estimator is below the best of others, with its standard error over families."""
    best = min(rivals, key=lambda one: rms[one].mean())
    gain = (rms[best] - rms[name]) / rms[best].mean()
    shown = f"{100 * gain.mean():.1f}% ({100 * error_over_families(gain, group):.1f}%)"
    return [name, f"{rms[name].mean():.4f}", best, f"{rms[best].mean():.4f}", shown]


def kind_of(name: str) -> str:
    """Say whether a set is like those of the study, or why it would have been left out."""
    X, y = table(name)
    rarest = np.unique(y, return_counts=True)[1].min() / len(y)
    equal = 1 - len(np.unique(np.column_stack([X, y]), axis=0)) / len(y)
    return (
        "a class below 10%" if rarest < RARE_CLASS else "many equal rows" if equal >= MANY_EQUAL else "like the study"
    )


def promised(rows: list[dict[str, str]]) -> tuple[float, float]:
    """Return the pooled RMS of `combined`, noise of the true error taken off, and what the package says to expect."""
    weights = shipped_weights("combined")
    squares, said = [], []
    for r in rows:
        truth, left = float(r["truth"]), min(len(table(r["set"])[1]) - MAIN_SIZE, LARGEST_TEST)
        value = sum(w * float(r[c]) for c, w in zip(SINGLES, weights[r["rule"]]))
        squares.append((value - truth) ** 2 - truth * (1 - truth) / (left - 1))
        family, d, classes = FAMILY_OF_RULE[r["rule"]], int(float(r["d"])), int(float(r["classes"]))
        found = expected("combined", family, MAIN_SIZE, d, classes, value)
        assert found is not None
        said.append(found.rms**2)
    return float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(said)))


def by_kind(rows: list[dict[str, str]]) -> list[list[str]]:
    """Return the gain of `combined` and its promise, for sets of each kind."""
    kinds = {name: kind_of(name) for name in FAMILY_OF}
    lines = []
    for kind in sorted(set(kinds.values()), key=lambda k: (k != "like the study", k)):
        own = [r for r in rows if kinds[r["set"]] == kind]
        rms, group = fresh_rms(own)
        found, said = promised(own)
        sets = len({r["set"] for r in own})
        lines.append([kind, str(sets), *gain_over(rms, "combined", SINGLES, group)[1:], f"{found:.3f}", f"{said:.3f}"])
    return lines


def judge() -> None:
    """Write the table of the fresh sets and that of the ceiling."""
    rows = stored()
    rms, group = fresh_rms(rows)
    head = ["mean RMS", "best single", "its mean RMS", "below it by (standard error over families)"]
    order = sorted(rms, key=lambda name: rms[name].mean())
    text = [
        f"{len({r['set'] for r in rows})} fresh sets of {len(np.unique(group))} families, five rules, {len(rows)} samples of {MAIN_SIZE} rows.",
        markdown(
            ["recipe", *head], [gain_over(rms, "combined", SINGLES, group), gain_over(rms, "auto-resub", DIRECT, group)]
        ),
        "`combined` by kind of set; pooled RMS without the noise of the true error, and what `expected_rms` had promised:",
        markdown(["sets", "number", *head, "pooled RMS", "promised"], by_kind(rows)),
        "Mean RMS of all estimators on all fresh sets: " + ", ".join(f"{n} {rms[n].mean():.4f}" for n in order) + ".",
    ]
    (TABLES / "combination_fresh.md").write_text("\n\n".join(text) + "\n")
    (TABLES / "combination_ceiling.md").write_text(ceiling())
    print((TABLES / "combination_fresh.md").read_text(), ceiling())


def ceiling() -> str:
    """Return how far weights fitted to the judged cells themselves get, on the real sets of the old study."""
    every = samples()
    inside = every.where(every.real & (every.n == MAIN_SIZE))
    rms = {name: rms_of(inside, inside.deviation[:, k])[0] for k, name in enumerate(SINGLES)}
    group = rms_of(inside, inside.deviation[:, 0])[1]
    rows = []
    for label, pool in (("parts of `combined`", POOLS["combined"]), ("all 13 estimators", (*DIRECT, *RESAMPLED))):
        index, own = [SINGLES.index(name) for name in pool], np.empty(len(inside.cell))
        for rule in np.unique(inside.rule):
            mask = inside.rule == rule
            deviation, share = inside.deviation[mask][:, index], inside.share[mask]
            own[mask] = deviation @ weights_of((deviation * share[:, None]).T @ deviation / share.sum(), None, 0.0)
        rows.append([label, *gain_over(rms | {"own": rms_of(inside, own)[0]}, "own", SINGLES, group)[1:]])
    _, cells = load()
    truth = cells.where(cells.real & (cells.n == MAIN_SIZE)).truth
    counted = np.sqrt(truth * (1 - truth) / MAIN_SIZE).mean()
    rows.append([f"errors counted on {MAIN_SIZE} independent rows instead", f"{counted:.4f}", "", "", ""])
    head = ["weights fitted to the judged cells, over", "mean RMS", "best single", "its mean RMS", "below it by"]
    return markdown(head, rows) + "\n"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("run", "judge"))
    parser.add_argument("--minutes", type=float, default=20.0, help="CPU time")
    parser.add_argument("--part", default="0/1", help="k/m: this process does every m-th task, starting at the k-th")
    given = parser.parse_args()
    if given.do == "run":
        part, parts = map(int, given.part.split("/"))
        run(given.minutes, part, parts)
    else:
        judge()


if __name__ == "__main__":
    main()
