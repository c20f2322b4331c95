"""Bias, variance and RMS of all estimators on real sets: n = 40 drawn, the rest as truth, 100 draws of each set.

    python -m studies.real_small_samples run --minutes 40    # resumable; writes real_small_samples.csv.gz
    python -m studies.real_small_samples tables              # writes docs/tables/real_small_samples.md

The sets were chosen before any of them was run: five tables and five expression sets with at least thirty rows to spare. Samples
that `choose_combination` has run already are taken over from its file.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from studies.choose_combination import BOOTSTRAPPED, DIRECT, SEED, one
from studies.choose_combination import PACKED as EARLIER
from studies.combination_rows import Task, append_rows, read_rows
from studies.small_samples import RULES, Rule, draw
from unseen.core.registry import build
from unseen.core.rng import stream, task_seed
from unseen.core.summary import Summary, summarize

HERE = Path(__file__).parent
RUNS = HERE / "real_small_samples.csv"
PACKED = HERE / "real_small_samples.csv.gz"
PAGE = HERE.parent / "docs" / "tables" / "real_small_samples.md"
N, DRAWS = 40, 100
UCI = ("uci/australian", "uci/ionosphere", "uci/pima", "uci/sonar", "uci/vehicle")
GENOMICS = ("genomics/golub", "genomics/gordon", "genomics/gravier", "genomics/nki272", "genomics/singh")
SETS = (*UCI, *GENOMICS)
# few splits and few points: the cheapest calibration one would still call one
CALIBRATION = {"r": 3, "search": "root", "n_mc": 50}
CALIBRATED = ("calibrated-bolster", "calibrated-naive-bayes-bolster")
PLAIN = {name: made for name, made in DIRECT.items() if not name.endswith("-class")}
SHOWN = (*PLAIN, "kfold", *BOOTSTRAPPED)
ABOUT = ("d", "classes", "truth")
NAMES = ("set", "n", "rule", "draw", *ABOUT, *SHOWN, *CALIBRATED)


@cache
def earlier() -> dict[tuple[str, str, int], dict[str, float]]:
    """Return what is known of samples of this size already."""
    rows = [r for r in read_rows(EARLIER) if r["set"] in SETS and r["n"] == str(N) and r["632plus"]]
    return {(r["set"], r["rule"], int(r["draw"])): {c: float(r[c]) for c in (*ABOUT, *SHOWN)} for r in rows}


def sample(name: str, n: int, rule: str, k: int) -> dict[str, float] | None:
    """Return the true error and every estimate for one draw."""
    row = earlier().get((name, rule, k)) or one(name, n, rule, k, PLAIN)
    drawn = draw(name, n, stream(SEED, "draw", name, n, k))
    if row is None or drawn is None:
        return None
    row, seed = dict(row), task_seed(SEED, name, n, rule, k)
    for id in CALIBRATED:
        made = build(id, "resubstitution", options=CALIBRATION)
        row[id] = made(Rule(rule), drawn.sample, rng=stream(seed, id), level=0.95).value
    return row


def tasks() -> Iterator[Task]:
    """Yield (set, n, rule, draw), draw by draw, so that every prefix has the shares of the whole."""
    for k in range(DRAWS):
        yield from ((name, N, rule, k) for name in SETS for rule in RULES)


def run(minutes: float) -> None:
    """Append rows until the time is used up, draw by draw over all sets and rules."""
    append_rows(RUNS, PACKED, tasks(), sample, (*SHOWN, *CALIBRATED), minutes)


def pack() -> list[dict[str, str]]:
    """Put all rows into the packed file, in order, and return them."""
    found = [r for path in (PACKED, RUNS) for r in read_rows(path) if r[CALIBRATED[-1]]]
    rows = {(r["set"], r["rule"], int(r["draw"])): r for r in found}
    ordered = [rows[key] for key in sorted(rows)]
    lines = [",".join(NAMES), *(",".join(r[c] for c in NAMES) for r in ordered)]
    with gzip.GzipFile(PACKED, "wb", mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())
    RUNS.unlink(missing_ok=True)
    return ordered


def summaries(rows: Sequence[dict[str, str]]) -> dict[str, Summary]:
    """Return bias, deviation variance within a set and rule, and RMS of every estimator, the nearest to the truth first."""
    truth = [float(r["truth"]) for r in rows]
    strata = [f"{r['set']} {r['rule']}" for r in rows]
    names = (*SHOWN, *CALIBRATED)
    made = {c: summarize([float(r[c]) for r in rows], truth, c, strata=strata) for c in names}
    return dict(sorted(made.items(), key=lambda item: item[1].rms))


def tables() -> None:
    """Write the tables of the documentation."""
    rows = pack()
    count = Counter((r["set"], r["rule"]) for r in rows)
    text = [f"n = {N} rows drawn, true error on the rest; {len(RULES)} rules, {len(rows)} samples in all."]
    for title, kept in (("Tables", UCI), ("Expression sets, the 200 features of largest variance", GENOMICS)):
        draws = [count[name, rule] for name in kept for rule in RULES]
        span = f"{min(draws)}" if min(draws) == max(draws) else f"{min(draws)} to {max(draws)}"
        title = f"{title} ({_names(kept)}), {span} draws of each set and rule"
        own = summaries([r for r in rows if r["set"] in kept])
        lines = [
            f"| {name} | {s.bias:+.3f} | {s.variance:.4f} | {s.rms:.4f} ({s.rms_error:.4f}) |"
            for name, s in own.items()
        ]
        head = "| estimator | bias | variance of the deviation | RMS (Monte-Carlo error) |\n|---|---:|---:|---:|"
        text += [f"{title}:", "\n".join([head, *lines])]
    by_rule = {rule: summaries([r for r in rows if r["rule"] == rule]) for rule in RULES}
    order = list(summaries(rows))
    lines = [f"| {name} | " + " | ".join(f"{by_rule[rule][name].rms:.3f}" for rule in RULES) + " |" for name in order]
    head = "| estimator | " + " | ".join(RULES) + " |\n|---|" + "---:|" * len(RULES)
    text += ["RMS by rule, all ten sets:", "\n".join([head, *lines])]
    PAGE.write_text("\n\n".join(text) + "\n")
    print(PAGE.read_text())


def _names(sets: Sequence[str]) -> str:
    return ", ".join(name.split("/")[1] for name in sets)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("run", "tables"))
    parser.add_argument("--minutes", type=float, default=40.0, help="CPU time")
    given = parser.parse_args()
    if given.do == "run":
        run(given.minutes)
    else:
        tables()


if __name__ == "__main__":
    main()
