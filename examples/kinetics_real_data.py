"""Public pharmacokinetic and tracer data through the same code as the tracer studies.

    python examples/kinetics_real_data.py FOLDER > docs/validation/kinetics-real-data.md

FOLDER holds indometh.csv.gz, cefamandole.csv.gz, theoph.csv.gz and eelgrass_32p.csv.gz. The page it prints is part of the
documentation.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import unseen
from unseen.kinetics.noncompartmental import trapezoid_area

kinetics = unseen.kinetics

HEAD = """# Real data

No public pulse study of two labelled substrates with ratios by subject was found. These sets go through the same parts of the
package: sums of exponentials, areas, group means, and compartment systems of any graph. The page is written by
`python examples/kinetics_real_data.py FOLDER`."""


def table(rows: list[dict]) -> str:
    """Markdown table of rows."""
    names = list(rows[0])
    cells = [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *("| " + " | ".join(c) + " |" for c in cells)])


def boluses(folder: Path, name: str, time: str) -> str:
    """Two exponentials, their pools and areas, subject by subject, and the mean over subjects."""
    data = pd.read_csv(folder / f"{name}.csv.gz")
    rows, rates, errors = [], [], []
    for subject, part in data.groupby("subject"):
        t, y = part["time"].to_numpy(float), part["target"].to_numpy(float)
        two = kinetics.fit_curve(t, y, error="proportional")
        chosen = kinetics.fit_curve(t, y, "auto", error="proportional").n
        rows.append(
            {
                "subject": subject,
                "A1": float(two.amplitudes[0]),
                f"rate 1 /{time}": float(two.rates[0]),
                "A2": float(two.amplitudes[1]),
                f"rate 2 /{time}": float(two.rates[1]),
                "area, exponentials": two.area,
                "area, trapezoids": trapezoid_area(t, y).total,
                "order by AICc": chosen,
            }
        )
        rates.append(float(two.rates[1]))
        errors.append(float(two.std_errors[3]))
    mean = kinetics.group_mean(rates, errors, f"slow rate per {time}")
    text = (
        f"Slow rate per {time}, mean over subjects {mean.mean:.4g} ± {mean.std_error:.2g}; random effects {mean.random_mean:.4g} ± "
        f"{mean.random_error:.2g}, standard deviation between subjects {mean.between_sd:.2g}."
    )
    return f"{table(rows)}\n\n{text}"


def theophylline(folder: Path) -> str:
    """First-order absorption: a gut and a plasma pool."""
    data = pd.read_csv(folder / "theoph.csv.gz")
    model = kinetics.CompartmentModel(
        ("gut", "plasma"),
        {"ka": ("gut", "plasma"), "ke": ("plasma", None)},
        (kinetics.Bolus("gut", "dose"),),
        {"conc": kinetics.Output("plasma", "V")},
    )
    rows = []
    for subject, part in data.groupby("subject"):
        samples, dose = {"conc": (part["time"], part["target"])}, {"dose": part["dose"].iloc[0]}
        # absorption and elimination may change places without changing the curve: start with the faster absorption
        found = kinetics.fit_system(model, samples, dose, start={"ka": 2.0, "ke": 0.1, "V": 0.5}, starts=0)
        value = found.values
        rows.append(
            {
                "subject": subject,
                "ka /h": value["ka"],
                "ke /h": value["ke"],
                "V l/kg": value["V"],
                "log ke": float(np.log(value["ke"])),
                "residual error": float(np.sqrt(found.chi2 / found.df)),
            }
        )
    return table(rows)


def eelgrass(folder: Path) -> str:
    """A network of four pools, tracer put into the water of the roots, plants in the light."""
    data = pd.read_csv(folder / "eelgrass_32p.csv.gz")
    part = data[(data["light"] == 1) & (data["site"] == 0)]
    names = {0: "leaves", 1: "roots", 2: "upper water", 3: "lower water"}
    unit = 1e9
    samples = {}
    for code, name in names.items():
        rows = part[part["compartment"] == code]
        samples[name] = rows["time_min"].to_numpy(float), rows["n_32p"].to_numpy(float) / unit
    dose = float(samples["lower water"][1][0])
    model = kinetics.CompartmentModel(
        tuple(names.values()),
        {
            "lower water to roots": ("lower water", "roots"),
            "roots to leaves": ("roots", "leaves"),
            "lower to upper water": ("lower water", "upper water"),
            "loss of lower water": ("lower water", None),
        },
        (kinetics.Bolus("lower water", dose),),
        {n: kinetics.Output(n) for n in names.values()},
    )
    found = kinetics.fit_system(model, samples, error="constant")
    rows = [{"rate": k, "per day": 1440 * v, "SE": 1440 * found.std_errors[k]} for k, v in found.values.items()]
    return table(rows)


def main() -> None:
    """Print the page."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data/pk")
    parts = [
        HEAD,
        "## Indomethacin, intravenous bolus, 6 subjects\n\nKwan et al. (1976), R `datasets`; plasma concentration in mcg/ml, time in "
        "hours, errors proportional to the fitted value. Equal weights for subject 1 give R's 2.029, 1.785, 0.1915, 0.1673.",
        boluses(folder, "indometh", "h"),
        "## Cefamandole, intravenous, 6 subjects\n\nDavidian and Giltinan (1995), R `nlme`; time in minutes.",
        boluses(folder, "cefamandole", "min"),
        "## Theophylline, oral, 12 subjects\n\nR `datasets`; a gut and a plasma pool, equal weights. R's own example gives log ke = -2.9196 "
        "and a residual error of 0.732 for subject 1. Exchanging ka and ke gives the same curve with another volume; the "
        "faster absorption is shown.",
        theophylline(folder),
        "## Phosphate in eelgrass, four pools\n\nMcRoy and Barsdate (1970), digitised in R `isotracer`; 32P put into the water around the "
        "roots, plants in the light. Five samples a pool and scatter of a factor of two leave most rates loosely determined; the "
        "standard errors say so.",
        eelgrass(folder),
    ]
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
