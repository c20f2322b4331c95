"""The MNIST parts of the Bayesian-network experiment with numpy and torch alone; resumable, rows written as they come.

python3 studies/gpu_ghane_bayes.py --data carry/mnist --part lenet --repeats 50 --budget 300 --out "$OUT"
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import numpy as np

from unseen.core.summary import summarize
from unseen.reproduction.ghane_bayes.runs import DigitSamples, run_cell
from unseen.reproduction.ghane_bayes.setting import setting_of
from unseen.reproduction.ghane_mnist.runs import read_mnist

ESTIMATORS = ("resub", "bayesian", "bayesian_bolster", "product_bolster", "nb_bolster", "test_doubt")
WIDTHS = {"lenet": 0, "mlp": 512}
WHOLE = ("chains", "n_samples", "burn_in", "thin", "n_mc", "n_test", "epochs")
REAL = ("step", "friction", "prior_scale", "temperature")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--part", choices=sorted(WIDTHS), required=True)
    parser.add_argument("--sizes", default="200,400,600,800")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--budget", type=float, default=420.0, help="seconds; a size that will not fit is not begun")
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--chunk", type=int, default=50)
    parser.add_argument("--sampler", default="sghmc")
    parser.add_argument("--prior", default="fan-in")
    for name in (*WHOLE, *REAL):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int if name in WHOLE else float)
    return parser.parse_args()


def said(rows: list, n: int, seconds: float) -> None:
    """Print what the rows of one size say."""
    table = {name: np.array([row[name] for row in rows]) for name in rows[0] if not isinstance(rows[0][name], str)}
    print(
        f"n={n}: {seconds:.0f} s; true error {table['true_error'].mean():.4f} (trained net {table['net_true_error'].mean():.4f}), largest "
        f"R-hat {np.nanmean(table['r_hat']):.2f} (settled: below {np.nanmean(table['r_hat_limit']):.2f}), effective size {np.nanmean(table['ess']):.0f}"
    )
    for name in ESTIMATORS:
        print("  ", summarize(table[name], table["true_error"], name), flush=True)


def main() -> None:
    given = arguments()
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    source = DigitSamples(read_mnist(given.data))
    options = {name: getattr(given, name) for name in (*WHOLE, *REAL) if getattr(given, name) is not None}
    setting = setting_of(given.part, sampler=given.sampler, prior=given.prior, **options)
    print(setting, flush=True)
    per_example = 0.0
    for n in (int(text) for text in given.sizes.split(",")):
        spent = time.perf_counter() - start
        if spent + per_example * n > given.budget:
            print(
                f"n={n} would take {per_example * n:.0f} s, {given.budget - spent:.0f} s are left: not begun",
                flush=True,
            )
            continue
        rows = run_cell(
            source,
            WIDTHS[given.part],
            n,
            range(given.repeats),
            setting,
            device=given.device,
            out=out / "ghane_bayes.csv",
            say=lambda text: print(text, flush=True),
            chunk=given.chunk,
        )
        seconds = time.perf_counter() - start - spent
        per_example = seconds / n
        said(rows, n, seconds)


if __name__ == "__main__":
    main()
