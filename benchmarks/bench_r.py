"""Leave-one-out by algebra in R: MASS's discriminants and the hat values of lm, beside ours on the same rows."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

import unseen
from benchmarks.bench_shortcuts import sample_of_classes, sample_of_numbers
from benchmarks.timing import Time, not_measured, row, same_value, time_of

REPEATS = 20
CALLS = 5  # in a row on both sides: the clock of R counts milliseconds
SCRIPT = """
suppressPackageStartupMessages(library(MASS))
folder <- commandArgs(TRUE)[1]
best <- function(call) {
  call()
  took <- sapply(seq_len(%d), function(k) {
    gc(FALSE); t <- proc.time(); for (i in 1:%d) call(); d <- proc.time() - t; c(sum(d[1:2]), d[3]) / %d
  })
  apply(took, 1, min)
}
a <- read.csv(file.path(folder, "classes.csv"))
x <- as.matrix(a[, -1]); y <- factor(a[, 1])
b <- read.csv(file.path(folder, "numbers.csv"))
lda_of <- function() lda(x, y, CV = TRUE)$class
qda_of <- function() qda(x, y, CV = TRUE)$class
lm_of <- function() { m <- lm(y ~ ., data = b); residuals(m) / (1 - hatvalues(m)) }
out <- function(name, seconds, error) {
  cat(name, format(seconds[1], digits = 6), format(seconds[2], digits = 6), format(error, digits = 15), "\\n")
}
out("lda", best(lda_of), mean(lda_of() != y))
out("qda", best(qda_of), mean(qda_of() != y))
out("lm", best(lm_of), mean(lm_of()^2))
cat("version", paste(R.version$major, R.version$minor, sep = "."), as.character(packageVersion("MASS")), "\\n")
"""


def _write(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    names = ",".join(["y", *(f"x{k}" for k in range(X.shape[1]))])
    np.savetxt(path, np.column_stack([y, X]), delimiter=",", header=names, comments="", fmt="%.17g")


def run() -> list[dict]:
    """Return the rows of this benchmark; one that says so if R or its package MASS is missing."""
    script = shutil.which("Rscript")
    if script is None:
        return [not_measured("Rscript is not installed (r-base-core and r-cran-mass in Debian)")]
    (X, y), (Z, t) = sample_of_classes(), sample_of_numbers()
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "classes.csv", X, y)
        _write(Path(folder) / "numbers.csv", Z, t)
        (Path(folder) / "loo.R").write_text(SCRIPT % (REPEATS, CALLS, CALLS))
        done = subprocess.run(
            [script, str(Path(folder) / "loo.R"), folder], capture_output=True, text=True, timeout=300, check=False
        )
    if done.returncode:
        return [not_measured(f"Rscript says: {done.stderr.strip().splitlines()[-1][:200]}")]
    said = {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines()) if words}
    R = f"R {said['version'][0]}"
    out = []
    for key, model, data, name in (
        ("lda", LinearDiscriminantAnalysis(), (X, y), f"{R}, MASS {said['version'][1]}, lda(CV = TRUE)"),
        ("qda", QuadraticDiscriminantAnalysis(), (X, y), f"{R}, MASS {said['version'][1]}, qda(CV = TRUE)"),
        ("lm", LinearRegression(), (Z, t), f"{R}, lm and hatvalues"),
    ):
        task = "regression" if key == "lm" else None

        def ours(model=model, data=data, task=task):
            for _ in range(CALLS):
                table = unseen.run(model, *data, design="loo", random_state=0, task=task)
                error = float(table.losses().split_means().mean())
            return error

        ours()
        own, (cpu, wall, error) = time_of(ours, REPEATS).times(1 / CALLS), map(float, said[key])
        out.append(
            row(
                f"leave-one-out, {type(model).__name__}, {len(X)} x {X.shape[1]}",
                own,
                Time(cpu, wall),
                against=name,
                same=same_value("error", own.result, error),
                target="no slower",
                met=own.cpu <= cpu,
                remark="mean of five calls in a row on both sides; ours with checks, plan and table of predictions",
            )
        )
    return out
