"""Coverage of the intervals of rates, pools and fluxes: of each subject by the delta method, and of means over subjects.

`python -m studies.kinetic_intervals run` fits 600 simulated subjects (one minute of one core), writes what was found in each to
`kinetic_intervals.csv.gz` and fills the tables of `docs/validation/kinetics.md`; `page` makes the tables again from that file.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np

import unseen
from unseen.kinetics.group_means import mean_interval
from unseen.kinetics.joint import JointModel
from unseen.kinetics.quantities import Derived
from unseen.kinetics.scheme import PHE_TYR
from unseen.kinetics.simulation import TABLE_4_1, rates_to_curve

HERE = Path(__file__).parent
ROWS = HERE / "kinetic_intervals.csv.gz"
PAGE = HERE.parent / "docs" / "validation" / "kinetics.md"
SUBJECTS, SEED = 600, 22  # with 600 the standard error of a coverage is about .01
SIZES = (3, 4, 6, 8, 12)  # subjects of a study
DRAWS = 4000  # studies of lognormal subjects; the standard error of a coverage of .95 is .0034
SPREADS = (0.1, 0.3, 0.6, 1.0)  # standard deviation of the logarithm between subjects
BETWEEN = 0.3  # as `simulate` has it
TYPICAL = {**TABLE_4_1, "Q1": 12.0, "Q3": 19.0}
_DOSES = (3.6, 2.85)


def truth_of(own: dict[str, float]) -> dict[str, float]:
    """True rates, pools and fluxes of a subject with conversion between the sampled pools."""
    model = JointModel(2, 2, "EC-EC")
    a, l = rates_to_curve(own["k21"], own["k12"], own["k02"], _DOSES[0] / own["Q1"])
    b, g = rates_to_curve(own["k43"], own["k34"], own["k04"], _DOSES[1] / own["Q3"])
    return Derived(model=model, doses=_DOSES, scheme=PHE_TYR)(model.pack(a, l, b, g, own["kappa"]))


def fit_rows(subjects: int, seed: int) -> list[dict[str, Any]]:
    """Truth, estimate, error and interval of every quantity of freshly simulated and fitted subjects."""
    made = unseen.kinetics.simulate(subjects, random_state=seed)
    study = unseen.kinetics.fit(made.ttr, made.doses, locations=["EC-EC"], progress=False)
    fits = {f.subject: f for f in study}
    rows = []
    for own in made.truth:
        if own["subject"] not in fits:
            continue
        true = truth_of(dict(own))
        for r in fits[own["subject"]].rows():
            kept = {k: r[k] for k in ("subject", "quantity", "estimate", "std_error", "lower", "upper")}
            rows.append({**kept, "truth": true[r["quantity"]]})
    return rows


def by_quantity(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """``{quantity: array of estimate, std_error, lower, upper, truth}``, one row per subject."""
    out: dict[str, list[list[float]]] = {}
    for r in rows:
        out.setdefault(r["quantity"], []).append(
            [float(r[k]) for k in ("estimate", "std_error", "lower", "upper", "truth")]
        )
    return {k: np.array(v) for k, v in out.items()}


def true_means(names: Any, subjects: int = 20_000, seed: int = 1) -> dict[str, float]:
    """Means of every quantity over so many subjects of the simulation that their error is below half a per cent."""
    rng = np.random.default_rng(seed)
    own = {k: v * np.exp(BETWEEN * rng.standard_normal(subjects)) for k, v in TYPICAL.items()}
    found = [truth_of({k: float(v[i]) for k, v in own.items()}) for i in range(subjects)]
    return {n: float(np.mean([f[n] for f in found])) for n in names}


def subject_coverage(found: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Coverage of each quantity's own interval, shares missed on either side, and the lowest end."""
    out = {}
    for name, v in found.items():
        low, high, true = v[:, 2], v[:, 3], v[:, 4]
        out[name] = {
            "covered": float(np.mean((low <= true) & (true <= high))),
            "above": float(np.mean(true > high)),
            "below": float(np.mean(true < low)),
            "lowest": float(np.min(low / true)),
        }
    return out


def mean_coverage(dealt: np.ndarray, truth: float, positive: bool = True) -> dict[str, float]:
    """Coverage of the mean's interval, one study per row."""
    ends = np.array([tuple(mean_interval(y, 0.95, positive) or ()) for y in dealt])
    low, high = ends.T
    return {
        "n": len(dealt),
        "covered": float(np.mean((low <= truth) & (truth <= high))),
        "above": float(np.mean(truth > high)),
        "below": float(np.mean(truth < low)),
        "negative": float(np.mean(low < 0)),
        "width": float(np.median(high - low) / truth),
    }


def studies_of(values: np.ndarray, size: int) -> np.ndarray:
    """Subjects dealt to as many studies of one size as they fill."""
    count = len(values) // size
    return values[: count * size].reshape(count, size)


def lognormal_coverage(
    spread: float, size: int, positive: bool, draws: int = DRAWS, seed: int = SEED
) -> dict[str, float]:
    """Coverage for subjects whose logarithms are normal, known without error; the true mean is one."""
    z = np.random.default_rng(seed).standard_normal((draws, size))
    return mean_coverage(np.exp(spread * z - spread**2 / 2), 1.0, positive)


def stored_rows() -> list[dict[str, Any]]:
    """What `run` kept."""
    with gzip.open(ROWS, "rt", newline="") as file:
        return list(csv.DictReader(file))


def page_tables(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The tables of the page, by the name of their place."""
    found = by_quantity(rows)
    own = subject_coverage(found)
    subjects = ["| quantity | covered | truth above | truth below |", "|---|---|---|---|"]
    subjects += [f"| {n} | {c['covered']:.3f} | {c['above']:.3f} | {c['below']:.3f} |" for n, c in own.items()]
    truth = true_means(found)
    means = [
        "| subjects | studies | covered, log scale | worst quantity | covered, Student's | worst quantity | Student's below zero |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        ours, plain = (
            {n: mean_coverage(studies_of(v[:, 0], size), truth[n], positive) for n, v in found.items()}
            for positive in (True, False)
        )
        cells = [str(size), str(next(iter(ours.values()))["n"])]
        for each in (ours, plain):
            worst = min(each, key=lambda n: each[n]["covered"])
            cells += [
                f"{np.mean([c['covered'] for c in each.values()]):.3f}",
                f"{each[worst]['covered']:.3f} ({worst})",
            ]
        below = np.mean([c["negative"] for c in plain.values()])
        means.append("| " + " | ".join([*cells, f"{100 * below:.0f}%"]) + " |")
    drawn = [
        "| sd of the logarithm | subjects | log scale | truth above | truth below | Student's | truth above | truth below | below zero |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for spread in SPREADS:
        for size in SIZES:
            ours, plain = (lognormal_coverage(spread, size, positive) for positive in (True, False))
            parts = [f"{c[k]:.3f}" for c in (ours, plain) for k in ("covered", "above", "below")]
            drawn.append("| " + " | ".join([f"{spread}", str(size), *parts, f"{100 * plain['negative']:.0f}%"]) + " |")
    return {
        "kinetic_subjects": "\n".join(subjects),
        "kinetic_means": "\n".join(means),
        "kinetic_lognormal": "\n".join(drawn),
    }


def write_page() -> None:
    text = PAGE.read_text()
    for name, table in page_tables(stored_rows()).items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        text = text[: text.index(begin) + len(begin)] + f"\n{table}\n" + text[text.index(end) :]
    PAGE.write_text(text)


def write_rows(rows: list[dict[str, Any]]) -> None:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in r.items()} for r in rows)
    with ROWS.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(out.getvalue().encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "page"])
    if parser.parse_args().what == "run":
        write_rows(fit_rows(SUBJECTS, SEED))
    write_page()


if __name__ == "__main__":
    main()
