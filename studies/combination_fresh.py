"""Judges `combined`, with the weights as shipped, on data sets that no choice about it has seen.

    python -m studies.combination_fresh run --minutes 20 --part 0/2   # resumable; writes combination_fresh.csv.gz
    python -m studies.combination_fresh judge                         # writes docs/tables/combination_fresh.md

Fixed, and committed, before a figure was seen:

- Sets: every classification table of the shared data with numbers and nothing missing, two to four classes, at least 100 rows, and no common source with a set of
  `small_samples` (Wisconsin breast cancer, SPECT, heart, DNA, sonar, credit and the like are left out). Ten draws of n = 40 rows each, the five rules, all as in `choose_combination`.
- The figure: mean RMS over cells (set and rule) of `combined` as shipped, against the single estimator that turns out best on these sets; standard error over families.

A weighted mean, which `combined` was at first, was judged on them before; the sets were split by kind when its figure was known: the study had left out sets with a class
below 10% and with many rows that repeat others, the rule above does not. What `combined` is now was fixed in `combination_bounded` before it was judged here.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from studies import combination_bounded as bounded
from studies.choose_combination import COLUMNS, one
from studies.combination_evidence import FAMILY_OF_RULE, markdown
from studies.combination_rows import append_rows, pack_rows
from studies.combination_tables import DIRECT, MAIN_SIZE, SINGLES, TABLES, gain_over
from studies.small_samples import LARGEST_TEST, RULES, table
from unseen.estimators.combined.evidence import error_band, expected_rms, recipe_bound, recipe_weights
from unseen.estimators.combined.situation import MANY_EQUAL, RARE_CLASS

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
    """Append rows of a part of the samples until the time is used up."""
    tasks = [(name, MAIN_SIZE, rule, k) for k in range(DRAWS) for name in FAMILY_OF for rule in RULES]
    append_rows(HERE / f"combination_fresh.{part}.csv", PACKED, tasks[part::parts], one, COLUMNS, minutes)


def shipped_combined() -> bounded.Fit:
    """Return bound and weights of the package, by rule."""
    known = {rule: recipe_weights("combined")[family] for rule, family in (FAMILY_OF_RULE | {"any": "any"}).items()}
    return bounded.Fit(
        recipe_bound("combined"), {rule: np.array([own[name] for name in bounded.NAMES]) for rule, own in known.items()}
    )


def by_recipes(rows: list[dict[str, str]]) -> dict[str, np.ndarray]:
    """Return what the recipes give for each row, with the weights as shipped."""
    auto = [
        sum(w * float(r[part]) for part, w in recipe_weights("auto-resub")[FAMILY_OF_RULE[r["rule"]]].items())
        for r in rows
    ]
    return {"combined": shipped_combined()(bounded.samples(rows, FAMILY_OF)), "auto-resub": np.array(auto)}


def fresh_rms(rows: list[dict[str, str]]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the RMS of every estimator in every cell, and the cells' families."""
    given = bounded.samples(rows, FAMILY_OF)
    values = {c: np.array([float(r[c]) for r in rows]) for c in SINGLES} | by_recipes(rows)
    _, first = np.unique(given.cell, return_index=True)
    return {name: bounded.cell_rms(given.cell, v - given.truth)[1] for name, v in values.items()}, given.group[first]


def kind_of(name: str) -> str:
    """Say whether a set is like those of the study, or why it would have been left out."""
    X, y = table(name)
    rarest = np.unique(y, return_counts=True)[1].min() / len(y)
    equal = 1 - len(np.unique(np.column_stack([X, y]), axis=0)) / len(y)
    return (
        "a class below 10%" if rarest < RARE_CLASS else "many equal rows" if equal >= MANY_EQUAL else "like the study"
    )


def promised(rows: list[dict[str, str]], recipe: str = "combined") -> tuple[float, float]:
    """Return the pooled RMS of a recipe, noise of the true error taken off, and what the package says to expect."""
    squares, said = [], []
    for r, value in zip(rows, by_recipes(rows)[recipe]):
        truth, left = float(r["truth"]), min(len(table(r["set"])[1]) - MAIN_SIZE, LARGEST_TEST)
        squares.append((value - truth) ** 2 - truth * (1 - truth) / (left - 1))
        family, d, classes = FAMILY_OF_RULE[r["rule"]], int(float(r["d"])), int(float(r["classes"]))
        found = expected_rms(recipe, family, MAIN_SIZE, d, classes, error_band(float(value), recipe))
        assert found is not None
        said.append(found.pooled**2)
    return float(np.sqrt(np.mean(squares))), float(np.sqrt(np.mean(said)))


def by_band(rows: list[dict[str, str]]) -> list[list[str]]:
    """Return what was promised where errors are rare and where they are frequent, on sets like the study's."""
    kinds = {name: kind_of(name) for name in FAMILY_OF}
    own = [r for r in rows if kinds[r["set"]] == "like the study"]
    lines = []
    for recipe, values in by_recipes(own).items():
        level = [error_band(float(v), recipe) for v in values]
        for band in sorted(set(level), reverse=True):
            inside = [r for r, found in zip(own, level) if found == band]
            lines.append([band, str(len(inside)), *(f"{v:.3f}" for v in promised(inside, recipe))])
    return lines


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
    """Write the table of the fresh sets."""
    rows = pack_rows(PACKED)
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
        "The recipes on the sets like those of the study, by what they say:",
        markdown(["samples", "number", "pooled RMS", "promised"], by_band(rows)),
        "Mean RMS of all estimators on all fresh sets: " + ", ".join(f"{n} {rms[n].mean():.4f}" for n in order) + ".",
    ]
    (TABLES / "combination_fresh.md").write_text("\n\n".join(text) + "\n")
    print((TABLES / "combination_fresh.md").read_text())


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
