"""Choose a combination of measures by the first procedure, and test the choice on zoos it has not seen; the default of `unseen.nets.rank` goes by `choose_net_ranking`.

    python studies/choose_net_measures.py [--folder studies/zoo] [--docs docs]

The procedure, fixed before the zoos of convolution nets were trained, is written down in docs/validation/net-ranking.md (the first procedure). Reads
{networks,measures}_<zoo>.csv of the five zoos whose networks fit their labels; writes combination.csv (one row per zoo left out, and the choices on all zoos: of all candidates, and of those that need
no images), combination_singles.csv and
docs/tables/net_combination.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from zoo_benches import DOCS, ZOOS, stored_benches, stored_zoos

from unseen.nets import kendall_tau, known_measures
from unseen.nets.ranking.bench import write_table
from unseen.nets.ranking.bench_record import CONTROLS, Bench
from unseen.nets.ranking.cmi import cmi
from unseen.nets.ranking.rank import _fractions

RETRAINS = {"par-search"}
OF_THIS_PACKAGE = {"resubstitution", "bolster", "naive-bayes-bolster", "posterior", "bolster-posterior", "bayesian"}
NOT_CANDIDATES = {*CONTROLS, *RETRAINS, "resubstitution"}
MOST = 5
FEWEST_NETWORKS, FEWEST_AXES, FEWEST_CANDIDATES = 32, 3, 20


def full(bench: Bench) -> set[str]:
    """Return the measures of a zoo that have a value for every network."""
    return {name for name, column in bench.values.items() if np.isfinite(column).all()}


def candidates_of(bench: Bench) -> set[str]:
    """Return those of them that may be combined."""
    return full(bench) - NOT_CANDIDATES


def too_small(bench: Bench) -> str:
    """Say why a zoo takes no part, or nothing."""
    per_seed, axes = len(bench.gap) // len(set(bench.seeds.tolist())), len(bench.axes)
    if per_seed < FEWEST_NETWORKS:
        return f"{per_seed} networks per seed are left; {FEWEST_NETWORKS} are asked for"
    if axes < FEWEST_AXES:
        return f"{axes} hyper-parameters are left; {FEWEST_AXES} are asked for"
    if len(candidates_of(bench)) < FEWEST_CANDIDATES:
        return f"{len(candidates_of(bench))} candidates have a full column; {FEWEST_CANDIDATES} are asked for"
    return ""


@dataclass
class Chooser:
    """Scores of combinations on zoos, each computed once."""

    benches: dict[str, Bench]
    known: dict[tuple[str, frozenset[str]], tuple[float, float]] = field(default_factory=dict)

    @property
    def candidates(self) -> list[str]:
        """Measures that every zoo has in full: whether a measure was taken is looked at, never how it did."""
        return sorted(set.intersection(*map(candidates_of, self.benches.values())))

    def score(self, zoo: str, names: list[str]) -> tuple[float, float]:
        """Return CMI (out of 100) and Kendall's tau of the mean place over measures, both means over seeds."""
        key = zoo, frozenset(names)
        if key not in self.known:
            bench, combined = self.benches[zoo], np.empty(len(self.benches[zoo].gap))
            seeds = np.unique(bench.seeds)
            for seed in seeds:
                own = bench.seeds == seed
                places = _fractions(np.stack([bench.values[name][own] for name in names])).mean(axis=0)
                combined[own] = np.round(places, 12)  # networks with the same places tie, whatever the order of adding
            value = cmi(bench.gap, combined, bench.axes, seeds=bench.seeds, n_bootstrap=2).value
            taus = [kendall_tau(bench.gap[bench.seeds == s], combined[bench.seeds == s]) for s in seeds]
            self.known[key] = 100 * value, float(np.mean(np.nan_to_num(taus)))
        return self.known[key]

    def mean(self, zoos: list[str], names: list[str]) -> tuple[float, float]:
        """Return both, averaged over zoos."""
        cmis, taus = zip(*(self.score(zoo, names) for zoo in zoos))
        return float(np.mean(cmis)), float(np.mean(taus))

    def chosen(self, zoos: list[str], candidates: list[str] | None = None) -> list[str]:
        """Add measures one by one while the mean CMI rises; the order must point the right way (mean tau above 0)."""
        among = self.candidates if candidates is None else candidates
        kept: list[str] = []
        best = -np.inf
        while len(kept) < MOST:
            tried = {name: self.mean(zoos, [*kept, name]) for name in among if name not in kept}
            right = {name: value for name, (value, tau) in tried.items() if tau > 0}
            if not right or max(right.values()) <= best:
                break
            name = max(right, key=right.__getitem__)
            kept, best = [*kept, name], right[name]
        return kept


def held_out(chooser: Chooser) -> list[dict[str, Any]]:
    """Choose on all zoos but one, score on that one; for each zoo in turn."""
    rows = []
    for zoo, bench in chooser.benches.items():
        others = [z for z in chooser.benches if z != zoo]
        names = chooser.chosen(others)
        value, tau = chooser.score(zoo, names)
        single = max((line for line in bench.lines if line.measure not in CONTROLS), key=lambda line: line.cmi)
        rows.append(
            {
                "held_out": zoo,
                "networks": len(bench.gap),
                "seeds": len(set(bench.seeds.tolist())),
                "chosen_on": " ".join(others),
                "measures": " ".join(names),
                "cmi": round(value, 5),
                "tau": round(tau, 3),
                "noise_floor": round(bench.noise_floor, 5),
                "best_single": single.measure,
                "best_single_cmi": round(single.cmi, 3),
            }
        )
    return rows


def kind_of(measure: str) -> str:
    return "of this package" if measure in OF_THIS_PACKAGE else "retrains" if measure in RETRAINS else "published"


def against_singles(benches: dict[str, Bench], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare the combination with every single measure, over the held-out zoos that have it."""
    ours = {row["held_out"]: row["cmi"] for row in rows}
    single = {
        zoo: {line.measure: line.cmi for line in benches[zoo].lines if line.measure in full(benches[zoo])}
        for zoo in ours
    }
    names = sorted(set().union(*single.values()) - set(CONTROLS))
    table = []
    for name in names:
        there = [zoo for zoo in ours if name in single[zoo]]
        difference = np.array([ours[zoo] - single[zoo][name] for zoo in there])
        error = difference.std(ddof=1) / np.sqrt(len(there)) if len(there) > 1 else np.nan
        table.append(
            {
                "measure": name,
                "kind": kind_of(name),
                "zoos": len(there),
                "missing": " ".join(z for z in ours if z not in there),
                "mean_cmi": round(float(np.mean([single[zoo][name] for zoo in there])), 3),
                "combination": round(float(np.mean([ours[zoo] for zoo in there])), 3),
                "difference": round(float(difference.mean()), 3),
                "std_error": round(float(error), 3),
            }
        )
    return sorted(table, key=lambda row: (-row["zoos"], -row["mean_cmi"]))


def verdict(rows: list[dict[str, Any]], singles: list[dict[str, Any]]) -> str:
    """Say in one sentence whether the combination beats every single measure, and which it does not."""
    mean = np.mean([row["cmi"] for row in rows])
    best = max((s for s in singles if s["zoos"] == len(rows)), key=lambda s: s["mean_cmi"])
    lost = [f"`{s['measure']}` ({s['kind']})" for s in singles if s["difference"] <= 0]
    text = (
        f"Mean CMI over {len(rows)} held-out zoos: combination {mean:.2f}; best single measure `{best['measure']}` ({best['kind']}), "
        f"{best['mean_cmi']:.2f}."
    )
    return f"{text} It does not beat {', '.join(lost)}." if lost else f"{text} It beats every single measure."


def named(measures: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in measures)


def markdown(
    rows: list[dict[str, Any]],
    singles: list[dict[str, Any]],
    everywhere: list[str],
    any_inputs: list[str],
    left_out: dict[str, str],
) -> str:
    lines = [
        verdict(rows, singles),
        "",
        "| tested on | networks | chosen on the other zoos | CMI | tau | noise floor | best single measure there, picked with the answer in hand |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for row in rows:
        names = named(row["measures"].split())
        lines.append(
            f"| {row['held_out']} | {row['networks']} | {names} | **{row['cmi']:.2f}** | {row['tau']:.2f} | {row['noise_floor']:.2f} "
            f"| `{row['best_single']}` {row['best_single_cmi']:.2f} |"
        )
    lines += [
        "",
        "| single measure | kind | zoos | mean CMI | combination on the same zoos | difference (standard error over zoos) |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in singles:
        error = "" if row["std_error"] != row["std_error"] else f" ({row['std_error']:.2f})"
        lines.append(
            f"| `{row['measure']}` | {row['kind']} | {row['zoos']} | {row['mean_cmi']:.2f} | {row['combination']:.2f} | {row['difference']:+.2f}{error} |"
        )
    lines += [
        "",
        f"Chosen on all {len(rows)} zoos: {named(everywhere)}; among the measures that need no images: {named(any_inputs)}.",
    ]
    lines += [f"Left out: {zoo} ({reason})." for zoo, reason in left_out.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ZOOS)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    found, left_out = stored_benches(options.folder, [zoo for zoo in stored_zoos(options.folder) if "noise" not in zoo])
    left_out |= {zoo: reason for zoo, bench in found.items() if (reason := too_small(bench))}
    benches = {zoo: bench for zoo, bench in found.items() if zoo not in left_out}
    if len(benches) < 2:
        raise SystemExit(
            f"{len(benches)} zoos can be used; choosing on some and testing on others needs two. {left_out}"
        )
    chooser = Chooser(benches)
    rows = held_out(chooser)
    singles, everywhere = against_singles(benches, rows), chooser.chosen(list(benches))
    known = known_measures()
    any_inputs = chooser.chosen(
        list(benches), [name for name in chooser.candidates if "images" not in known[name].needs]
    )
    whole = [
        dict.fromkeys(rows[0], "")
        | {
            "held_out": label,
            "chosen_on": " ".join(benches),
            "measures": " ".join(names),
            "cmi": round(chooser.mean(list(benches), names)[0], 3),
        }
        for label, names in (("none", everywhere), ("none, any inputs", any_inputs))
    ]
    write_table(options.folder / "combination.csv", [*rows, *whole])
    write_table(options.folder / "combination_singles.csv", singles)
    (options.docs / "tables").mkdir(parents=True, exist_ok=True)
    text = markdown(rows, singles, everywhere, any_inputs, left_out)
    (options.docs / "tables" / "net_combination.md").write_text(text)
    print(text)
    print("scores of the choice on all zoos:", {zoo: round(chooser.score(zoo, everywhere)[0], 2) for zoo in benches})
    print(
        "no candidates, for want of a full column somewhere:",
        sorted(set().union(*map(candidates_of, benches.values())) - set(chooser.candidates)),
    )


if __name__ == "__main__":
    main()
