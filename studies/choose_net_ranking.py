"""Choose how `unseen.nets.rank` predicts a gap, and test the ranking by expected test error on zoos that no choice has seen.

    python studies/choose_net_ranking.py [--folder studies/zoo] [--docs docs]

The procedure was fixed before the zoos with noisy labels were trained: docs/validation/net-ranking.md, "Ranking by the expected test error". Reads {networks,measures}_<zoo>.csv of
every zoo; writes zoo/ranking.csv, zoo/ranking_singles.csv and docs/tables/net_ranking.md. A minute of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from choose_net_measures import MOST, NOT_CANDIDATES, full, kind_of
from scipy.optimize import nnls
from zoo_benches import DOCS, ZOOS, stored_benches

from unseen.nets import kendall_tau, known_measures
from unseen.nets.ranking.bench import write_table
from unseen.nets.ranking.bench_record import CONTROLS, Bench
from unseen.nets.ranking.cmi import cmi

PENALTIES = (1.0, 10.0, 100.0, 1000.0)  # times the mean square of a place, as fixed beforehand


@dataclass
class Measured:
    """A zoo with places, training errors and test errors; what is scored twice is computed once."""

    bench: Bench

    def __post_init__(self) -> None:
        self._cmi: dict[bytes, float] = {}
        self._places: dict[str, np.ndarray] = {}

    @cached_property
    def train_error(self) -> np.ndarray:
        """Training error of each network on its own labels."""
        return self.bench.values["resubstitution"]

    @cached_property
    def test_error(self) -> np.ndarray:
        """Error on the clean test set."""
        return self.train_error + self.bench.gap

    @cached_property
    def parts(self) -> list[np.ndarray]:
        """Networks of each seed."""
        return [np.flatnonzero(self.bench.seeds == seed) for seed in np.unique(self.bench.seeds)]

    def places(self, name: str) -> np.ndarray:
        """Return the place of each network among those of its seed, 0 to 1, ties sharing theirs."""
        if name not in self._places:
            column = self.bench.gap if name == "gap" else self.bench.values[name]
            self._places[name] = self.per_seed(column, _fractions)
        return self._places[name]

    def per_seed(self, column: np.ndarray, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return a column changed seed by seed."""
        out = np.empty(len(column))
        for own in self.parts:
            out[own] = change(column[own])
        return out

    def centred(self, column: np.ndarray) -> np.ndarray:
        """Return a column less its mean over each seed."""
        return self.per_seed(column, lambda values: values - values.mean())

    def cmi(self, score: np.ndarray) -> float:
        """Return the CMI of gap and score, out of 100, mean over seeds."""
        rounded = np.round(score, 12)
        key = rounded.tobytes()
        if key not in self._cmi:
            found = cmi(self.bench.gap, rounded, self.bench.axes, seeds=self.bench.seeds, n_bootstrap=2)
            self._cmi[key] = 100 * found.value
        return self._cmi[key]

    def tau(self, truth: np.ndarray, score: np.ndarray) -> float:
        """Return Kendall's tau, mean over seeds; a score without an order has 0."""
        return float(np.mean([np.nan_to_num(kendall_tau(truth[own], np.round(score[own], 12))) for own in self.parts]))

    @cached_property
    def same_data(self) -> list[np.ndarray]:
        """Networks of one seed that saw the same rows and labels, as checkpoints to choose from do."""
        axes = [self.bench.axes[name] for name in ("label_noise", "train_rows") if name in self.bench.axes]
        keys = list(zip(self.bench.seeds.tolist(), *axes))
        return [np.array([k for k, other in enumerate(keys) if other == key]) for key in dict.fromkeys(keys)]

    def tau_same_data(self, score: np.ndarray) -> float:
        """Return Kendall's tau of a score with the test error among networks of the same data, mean over such sets."""
        return float(np.mean([np.nan_to_num(kendall_tau(self.test_error[own], score[own])) for own in self.same_data]))


def _fractions(values: np.ndarray) -> np.ndarray:
    less = (values[None, :] < values[:, None]).sum(1)
    same = (values[None, :] == values[:, None]).sum(1) - 1
    return (less + same / 2) / (len(values) - 1)


Score = Callable[[Measured], np.ndarray]


@dataclass(frozen=True)
class Way:
    """A recipe's outcome: the measures with their weights, and the score they give."""

    recipe: str
    weights: dict[str, float]

    def __call__(self, zoo: Measured) -> np.ndarray:
        return np.sum([weight * zoo.places(name) for name, weight in self.weights.items()], axis=0)


def single(zoos: Sequence[Measured], names: Sequence[str]) -> Way:
    """Return the measure with the largest mean CMI that points the right way."""
    value = {
        name: np.mean([z.cmi(z.places(name)) for z in zoos])
        for name in names
        if points_right(zoos, Way("", {name: 1.0}))
    }
    return Way("single", {max(value, key=value.__getitem__): 1.0})


def points_right(zoos: Sequence[Measured], way: Way) -> bool:
    return np.mean([z.tau(z.bench.gap, way(z)) for z in zoos]) > 0


def steps(zoos: Sequence[Measured], names: Sequence[str]) -> Way:
    """Add measures one by one while the mean CMI of the mean place rises."""
    kept: list[str] = []
    best = -np.inf
    while len(kept) < MOST:
        tried = {name: Way("steps", dict.fromkeys([*kept, name], 1.0)) for name in names if name not in kept}
        value = {
            n: np.mean([z.cmi(w(z) / len(w.weights)) for z in zoos]) for n, w in tried.items() if points_right(zoos, w)
        }
        if not value or max(value.values()) <= best:
            break
        name = max(value, key=value.__getitem__)
        kept, best = [*kept, name], value[name]
    return Way("steps", dict.fromkeys(kept, 1 / len(kept)))


def ridge(zoos: Sequence[Measured], names: Sequence[str], penalty: float) -> Way:
    """Return weights that are not negative, by ridge regression of the gap's place on the measures' places."""
    X = np.concatenate([_matrix(z, names) for z in zoos])
    y = np.concatenate([z.centred(z.places("gap")) / np.sqrt(len(z.bench.gap)) for z in zoos])
    strength = np.sqrt(penalty * np.mean(X**2) * len(X) / len(names))
    found, _ = nnls(np.vstack([X, strength * np.eye(len(names))]), np.append(y, np.zeros(len(names))))
    return Way("weights", {name: float(w) for name, w in zip(names, found) if w > 0})


def _matrix(zoo: Measured, names: Sequence[str]) -> np.ndarray:
    columns = [zoo.centred(zoo.places(name)) for name in names]
    return np.stack(columns, axis=1) / np.sqrt(len(zoo.bench.gap))  # each zoo counts once


def weights(zoos: Sequence[Measured], names: Sequence[str]) -> Way:
    """Return the ridge weights whose penalty does best when each zoo is left out in turn."""
    value = {p: left_out_cmi(zoos, lambda others, p=p: ridge(others, names, p)) for p in PENALTIES}
    return ridge(zoos, names, max(value, key=value.__getitem__))


def left_out_cmi(zoos: Sequence[Measured], recipe: Callable[[Sequence[Measured]], Way]) -> float:
    """Return the mean CMI of a recipe over zoos, each left out in turn."""
    found = []
    for zoo in zoos:
        way = recipe([z for z in zoos if z is not zoo])
        found.append(zoo.cmi(way(zoo)) if way.weights else 0.0)
    return float(np.mean(found))


RECIPES = {"single": single, "steps": steps, "weights": weights}


def chosen(zoos: Sequence[Measured], names: Sequence[str]) -> Way:
    """Return the outcome of the recipe that does best when each zoo is left out in turn."""
    value = {key: left_out_cmi(zoos, lambda others, r=recipe: r(others, names)) for key, recipe in RECIPES.items()}
    return RECIPES[max(value, key=value.__getitem__)](zoos, names)


def slope(zoos: Sequence[Measured], score: Score) -> float:
    """Return how far the gap rises from the first place to the last: least squares within zoos and seeds, each zoo counting once."""
    x = np.concatenate([z.centred(score(z)) / np.sqrt(len(z.bench.gap)) for z in zoos])
    y = np.concatenate([z.centred(z.bench.gap) / np.sqrt(len(z.bench.gap)) for z in zoos])
    return max(0.0, float(x @ y / (x @ x)))


def expected_error(zoo: Measured, score: Score, rise: float) -> np.ndarray:
    """Return training error plus predicted gap, up to a constant."""
    return zoo.train_error + rise * score(zoo)


def judge(zoos: dict[str, Measured], names: Sequence[str], inputs: str) -> list[dict[str, Any]]:
    """Leave each zoo out of everything, and score what the others chose on it."""
    rows = []
    for label, zoo in zoos.items():
        others = [z for key, z in zoos.items() if key != label]
        way, alone = chosen(others, names), single(others, names)
        rows.append(
            {
                "inputs": inputs,
                "held_out": label,
                "networks": len(zoo.bench.gap),
                "gap_sd": round(float(zoo.bench.gap.std()), 4),
                "recipe": way.recipe,
                "measures": " ".join(f"{k}:{v:.3f}" for k, v in sorted(way.weights.items(), key=lambda kv: -kv[1])),
                "cmi": round(zoo.cmi(way(zoo)), 3),
                "tau_test": round(zoo.tau(zoo.test_error, expected_error(zoo, way, slope(others, way))), 4),
                "tau_train": round(zoo.tau(zoo.test_error, zoo.train_error), 4),
                "single": next(iter(alone.weights)),
                "single_cmi": round(zoo.cmi(alone(zoo)), 3),
                "single_tau_test": round(zoo.tau(zoo.test_error, expected_error(zoo, alone, slope(others, alone))), 4),
            }
        )
    return rows


def singles(zoos: dict[str, Measured], rows: list[dict[str, Any]], inputs: str) -> list[dict[str, Any]]:
    """Score every single measure by itself and added to the training error by the slope of the other zoos."""
    ours = {row["held_out"]: row for row in rows}
    known = {name for zoo in zoos.values() for name in full(zoo.bench)} - set(CONTROLS) - {"resubstitution"}
    table = []
    for name in sorted(known):
        there = {label: zoo for label, zoo in zoos.items() if name in full(zoo.bench)}
        way = Way("", {name: 1.0})
        added = []
        for label, zoo in there.items():
            others = [z for key, z in there.items() if key != label]
            added.append(zoo.tau(zoo.test_error, expected_error(zoo, way, slope(others, way) if others else 0.0)))
        table.append(
            {
                "inputs": inputs,
                "measure": name,
                "kind": kind_of(name),
                "zoos": len(there),
                "mean_cmi": round(float(np.mean([z.cmi(z.places(name)) for z in there.values()])), 3),
                "our_cmi": round(float(np.mean([ours[label]["cmi"] for label in there])), 3),
                "tau_alone": round(
                    float(np.mean([z.tau(z.test_error, z.bench.values[name]) for z in there.values()])), 4
                ),
                "tau_added": round(float(np.mean(added)), 4),
                "our_tau": round(float(np.mean([ours[label]["tau_test"] for label in there])), 4),
                "tau_same_data": round(
                    float(np.mean([z.tau_same_data(z.bench.values[name]) for z in there.values()])), 4
                ),
                "least_tau_same_data": round(min(z.tau_same_data(z.bench.values[name]) for z in there.values()), 4),
            }
        )
    return sorted(table, key=lambda row: (-row["zoos"], -row["mean_cmi"]))


def verdict(rows: list[dict[str, Any]], table: list[dict[str, Any]]) -> str:
    """Say whether the chosen recipe is above every published single measure in both figures."""
    mean = {
        key: float(np.mean([row[key] for row in rows]))
        for key in ("cmi", "tau_test", "single_cmi", "single_tau_test", "tau_train")
    }
    rivals = [row for row in table if row["kind"] == "published"]
    above = [f"`{r['measure']}`" for r in rivals if r["mean_cmi"] >= r["our_cmi"]]
    nearer = [f"`{r['measure']}`" for r in rivals if max(r["tau_alone"], r["tau_added"]) >= r["our_tau"]]
    text = (
        f"Over {len(rows)} zoos left out the chosen recipe has a mean CMI of {mean['cmi']:.1f} and a tau of {mean['tau_test']:.2f} with the test error; the single measure that the other zoos "
        f"would have chosen {mean['single_cmi']:.1f} and {mean['single_tau_test']:.2f}; the training error alone a tau of {mean['tau_train']:.2f}."
    )
    lost = [f"in CMI {', '.join(above)}"] * bool(above) + [f"in tau {', '.join(nearer)}"] * bool(nearer)
    return f"{text} Published measures above it: {'; '.join(lost) if lost else 'none'}."


def markdown(rows: list[dict[str, Any]], table: list[dict[str, Any]], way: Way, rise: float) -> str:
    lines = [
        verdict(rows, table),
        "",
        "| tested on | networks | sd of gap | recipe of the other zoos | CMI | tau with the test error | single of the other zoos | CMI | tau |",
        "|---|---:|---:|---|---:|---:|---|---:|---:|",
    ]
    for r in rows:
        first = ", ".join(f"`{part.rpartition(':')[0]}`" for part in r["measures"].split()[:3])
        more = len(r["measures"].split()) - 3
        lines.append(
            f"| {r['held_out']} | {r['networks']} | {r['gap_sd']:.3f} | {r['recipe']}: {first}{f' and {more} more' if more > 0 else ''} | **{r['cmi']:.1f}** | **{r['tau_test']:.2f}** "
            f"| `{r['single']}` | {r['single_cmi']:.1f} | {r['single_tau_test']:.2f} |"
        )
    lines += [
        "",
        "| single measure | kind | zoos | mean CMI | ours there | tau, alone | tau, added to the training error | ours there | tau, alone, same data | its least |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| `{r['measure']}` | {r['kind']} | {r['zoos']} | {r['mean_cmi']:.1f} | {r['our_cmi']:.1f} | {r['tau_alone']:.2f} | {r['tau_added']:.2f} | {r['our_tau']:.2f} "
        f"| {r['tau_same_data']:.2f} | {r['least_tau_same_data']:.2f} |"
        for r in table
    ]
    names = ", ".join(f"`{k}` {v:.2f}" for k, v in sorted(way.weights.items(), key=lambda kv: -kv[1]))
    return "\n".join(
        [
            *lines,
            "",
            f"Chosen on all of them: {way.recipe}, {names}; the gap rises by {rise:.3f} from score 0 to 1.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ZOOS)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    benches, left_out = stored_benches(options.folder, n_permutations=9)
    print(left_out or "", flush=True)
    known, texts, all_rows, all_singles = known_measures(), [], [], []
    zoos = {label: Measured(bench) for label, bench in benches.items()}
    images = {name for name, measure in known.items() if "images" in measure.needs}
    with_images = {label: z for label, z in zoos.items() if any(name in full(z.bench) for name in images)}
    for inputs, own, without in (("images", with_images, set()), ("any", zoos, images)):
        names = sorted(set.intersection(*(full(z.bench) for z in own.values())) - NOT_CANDIDATES - without)
        rows = judge(own, names, inputs)
        table = singles(own, rows, inputs)
        way = chosen(list(own.values()), names)
        rise = slope(list(own.values()), way)
        head = "### Networks for images" if inputs == "images" else "### Networks for any inputs"
        texts.append(f"{head}\n\n{markdown(rows, table, way, rise)}")
        all_rows += rows
        all_singles += table
        print(texts[-1], flush=True)
    write_table(options.folder / "ranking.csv", all_rows)
    write_table(options.folder / "ranking_singles.csv", all_singles)
    (options.docs / "tables" / "net_ranking.md").write_text("\n".join(texts))


if __name__ == "__main__":
    main()
