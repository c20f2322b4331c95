"""Flags that commands on nets share, and those of `unseen nets estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "DataPath",
    "Device",
    "FailIf",
    "Kappa",
    "Layer",
    "Method",
    "ModuleName",
    "Options",
    "Points",
    "Repeats",
    "SampleOptions",
    "Sampler",
    "Samples",
    "State",
    "Training",
    "Validation",
    "Weights",
]

DataPath = Annotated[
    Path,
    typer.Option(
        "--data", help="Training data: NPZ with X and y, Parquet, or a folder (pictures by class, IDX, Hugging Face)."
    ),
]
ModuleName = Annotated[
    str | None,
    typer.Option("--module", help="pkg.mod:function that returns the untrained net; your code is imported and run."),
]
Weights = Annotated[
    Path | None,
    typer.Option(
        "--weights", help="Trained weights: a file (.safetensors, .pt, .pth, .ckpt) or a Hugging Face folder."
    ),
]
State = Annotated[
    str | None,
    typer.Option("--state", help="Which weights of a file that holds several, such as model_ema; the net's own."),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method", "-m", help="Estimator (bolster by default, copies with --train); see unseen.nets.estimate."
    ),
]
Layer = Annotated[str | None, typer.Option("--layer", help="Put kernels behind this layer instead of in input space.")]
Kappa = Annotated[float | None, typer.Option("--kappa", min=0, help="Factor on the size of the kernels.")]
Points = Annotated[int, typer.Option("--n-mc", min=2, help="Points per kernel.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="80/20 splits, a copy of the net each.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", help="key=value, another option of the estimator, such as posterior=knn."),
]
Training = Annotated[
    list[str] | None,
    typer.Option(
        "--train",
        help="key=value, how copies are trained, such as epochs=200 or lr=0.02.",
    ),
]
Sampler = Annotated[
    str | None,
    typer.Option("--sampler", help="Sampler of the Bayesian methods: sghmc, sgld, mc-dropout, ensemble or laplace."),
]
SampleOptions = Annotated[
    list[str] | None,
    typer.Option("--sample", help="key=value, an option of unseen.nets.posterior, such as n_samples=50."),
]
Samples = Annotated[
    Path | None,
    typer.Option(
        "--samples",
        help="Own samples for the Bayesian methods: an NPY or NPZ file of logits (samples, rows, classes), or a folder of weights.",
    ),
]
Validation = Annotated[
    Path | None,
    typer.Option(
        "--validation",
        help="Data that the net was not trained on, to find the temperature of its probabilities; read as --data is.",
    ),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
FailIf = Annotated[
    float | None, typer.Option("--fail-if", help="Exit with code 1 if the estimate is above this error.")
]
