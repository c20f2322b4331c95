"""The measures that `unseen.nets.rank` takes by default: rule 5 of docs/validation/net-ranking.md, applied to every kind of inputs alike, and to the other zoos with each zoo left out.

    python -m studies.net_default

Reads {bench,networks,measures}_<zoo>.csv of every zoo (bench_ by zoo_table.py); writes docs/tables/net_default.md. Seconds. The rule: of the published measures that need no training and order the networks of no zoo
backwards, the one with the largest mean CMI. Backwards: Kendall's tau with the test error, mean over networks of the same data, is not above 0. CMI does not see direction, so it cannot decide alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studies.gap_transfer import ZOOS, networks_of
from unseen.nets import kendall_tau, known_measures
from unseen.nets.ranking.bench import read_rows
from unseen.nets.ranking.bench_record import CONTROLS

TABLE = ZOOS.parents[1] / "docs" / "tables" / "net_default.md"
OF_THIS_PACKAGE = {"resubstitution", "bolster", "naive-bayes-bolster", "posterior", "bolster-posterior", "bayesian"}
NO_CANDIDATES = OF_THIS_PACKAGE | set(CONTROLS)


@dataclass(frozen=True)
class Figures:
    """What a measure shows on a zoo: CMI out of 100, and Kendall's tau with the test error among networks of the same data."""

    cmi: float
    tau: float


def figures_of(zoo: str) -> dict[str, Figures]:
    """Return the figures of every measure that has a value for each network of a zoo."""
    nets = networks_of(ZOOS / f"networks_{zoo}.csv")
    cmi = {row["measure"]: float(row["cmi"]) for row in networks_of(ZOOS / f"bench_{zoo}.csv")}
    error = np.array([1 - float(row["test_accuracy"]) for row in nets])
    same = [(row["seed"], row.get("label_noise"), row.get("train_rows")) for row in nets]
    sets = [[k for k, other in enumerate(same) if other == key] for key in dict.fromkeys(same)]
    values: dict[str, dict[tuple[int, str], float]] = {}
    for row in read_rows(ZOOS / f"measures_{zoo}.csv"):
        values.setdefault(row.measure, {})[row.seed, row.net] = row.value
    keys, found = [(int(row["seed"]), row["name"]) for row in nets], {}
    for measure, held in values.items():
        column = np.array([held.get(key, np.nan) for key in keys])
        if measure in cmi and np.isfinite(column).all():
            taus = [np.nan_to_num(kendall_tau(error[own], np.round(column[own], 12))) for own in sets]
            found[measure] = Figures(cmi[measure], float(np.mean(taus)))
    return found


def default_of(zoos: dict[str, dict[str, Figures]]) -> str:
    """Return the measure that the rule names, from the figures of some zoos; it must have some on each."""
    candidates = set.intersection(*(set(found) for found in zoos.values())) - NO_CANDIDATES
    forward = [name for name in sorted(candidates) if min(found[name].tau for found in zoos.values()) > 0]
    return max(forward, key=lambda name: float(np.mean([found[name].cmi for found in zoos.values()])))


def zoos_of(inputs: str) -> dict[str, dict[str, Figures]]:
    """Return the figures of the zoos of images with all measures, or of all zoos with measures that take any inputs; measures that train are left out."""
    known = known_measures()
    images = {name for name, measure in known.items() if "images" in measure.needs}
    training = {name for name, measure in known.items() if measure.cost == "retrains"}
    zoos = {p.stem.removeprefix("networks_"): {} for p in sorted(ZOOS.glob("networks_*.csv"))}
    found = {zoo: figures_of(zoo) for zoo in zoos}
    if inputs == "images":
        found = {zoo: one for zoo, one in found.items() if images & set(one)}
    out = training if inputs == "images" else training | images
    return {zoo: {m: f for m, f in one.items() if m not in out} for zoo, one in found.items()}


def table_of(zoos: dict[str, dict[str, Figures]]) -> str:
    """Return what the rule names on all zoos, those that come next, and its choice with each zoo left out."""
    mean = {m: np.mean([z[m].cmi for z in zoos.values()]) for m in set.intersection(*(set(z) for z in zoos.values()))}
    least = {m: min((z[m].tau, name) for name, z in zoos.items()) for m in mean}
    first = sorted(set(mean) - NO_CANDIDATES, key=lambda m: -mean[m])[:6]
    lines = ["| measure | mean CMI | least tau | on |", "|---|---:|---:|---|"]
    lines += [f"| `{m}` | {mean[m]:.1f} | {least[m][0]:.2f} | {least[m][1]} |" for m in first]
    lines += ["", "| tested on | the rule's choice on the others | CMI | tau |", "|---|---|---:|---:|"]
    chosen = {zoo: default_of({z: f for z, f in zoos.items() if z != zoo}) for zoo in zoos}
    there = {zoo: zoos[zoo][name] for zoo, name in chosen.items()}
    lines += [f"| {zoo} | `{chosen[zoo]}` | {one.cmi:.1f} | {one.tau:.2f} |" for zoo, one in there.items()]
    means = [np.mean([getattr(one, key) for one in there.values()]) for key in ("cmi", "tau")]
    lines.append(f"| mean | | {means[0]:.1f} | {means[1]:.2f} |")
    return "\n".join(lines) + "\n"


def made() -> str:
    """Return both tables under their headings."""
    parts = []
    for inputs, words in (("images", "Images"), ("any", "Any inputs")):
        zoos = zoos_of(inputs)
        parts.append(f"### {words}: `{default_of(zoos)}`\n\n{table_of(zoos)}")
    return "\n".join(parts)


if __name__ == "__main__":
    text = made()
    TABLE.write_text(text)
    print(text)
