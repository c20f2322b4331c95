"""Bayesian posterior-probability error estimates of neural networks: figures 2.7 to 2.9 of Ghane's dissertation (2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, UnknownName
from unseen.core.registry import register
from unseen.core.summary import Summary
from unseen.engine.events import Reporter
from unseen.reproduction.experiment import need_torch
from unseen.reproduction.ghane_bayes.checks import CLASSIFIERS, Runs, cells_of, checks_of, summaries_of
from unseen.reproduction.ghane_bayes.setting import PARTS, ROWS, BayesSetting, setting_of
from unseen.reproduction.record import Reproduction

__all__ = ["BayesResult", "GhaneBayes"]

FIGURES = {"synthetic": "2.9", "lenet": "2.7", "mlp": "2.8"}
SIZES = {"synthetic": (20, 40, 60, 80, 100), "lenet": (200, 400, 600, 800), "mlp": (200, 400, 600, 800)}
WIDTHS = {"synthetic": (10, 30, 100), "lenet": (0,), "mlp": (512,)}
SMALLEST = {"synthetic": 8, "lenet": 40, "mlp": 40}  # four examples of each class

REMARKS = (
    "The figures are pictures without printed numbers, so no cell is judged; the checks are what the text concludes from them.",
    "The dissertation names neither the way its posterior was sampled, nor prior, draws, burn-in, training, activation or sizes. Here: "
    "stochastic-gradient Hamiltonian Monte Carlo with full batches at temperature 1, chains started at nets trained from different first "
    "weights; hidden units are ReLU (LeNet-5: tanh); sizes are those of section 2.2.4.",
    "The classifier judged is that of (2.42) with (2.44), the class of the largest posterior predictive probability, for all three "
    "estimators; --classifier net judges the trained net that the first chain starts from.",
    "The bolstered estimate is the mean of 1 - P over kernel points, not the product of (2.51), which the column product_bolster holds.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class BayesResult(Reproduction):
    """The reproduction with its rows by (width, size), and the estimators' columns in them."""

    shown_by: ClassVar[str] = "unseen.reproduction.ghane_bayes"

    runs: Runs = field(default_factory=dict, metadata={"shown": False})
    part: str = "synthetic"
    columns: tuple[str, ...] = CLASSIFIERS["predictive"]

    @property
    def summaries(self) -> dict[tuple[int, int, str], Summary]:
        """Bias, variance and RMS by width, size and estimator."""
        return summaries_of(self.runs, self.columns)


@register
@dataclass(frozen=True)
class GhaneBayes:
    """Bias, variance and RMS of resubstitution and of two Bayesian posterior-probability estimates of a net's error.

    Parameters
    ----------
    part : {"synthetic", "lenet", "mlp"}
        Nets with one hidden layer on the Gaussian data of section 2.2.4.1 (figure 2.9); LeNet-5 (2.7) or a net with two hidden layers
        of 512 units (2.8) on MNIST.
    data : str
        Folder with MNIST's four IDX files, for the latter two.
    sizes, widths : tuple of int
        Training set sizes and hidden units; those of the part by default.
    classifier : {"predictive", "net"}
        What is judged: the class with the largest posterior predictive probability, or the trained net.
    sampler : {"sghmc", "sgld", "ensemble", "laplace"}
        How the posterior is sampled; see `unseen.nets.posterior`.
    prior : {"unit", "fan-in"}
        Standard deviation of weights before any data: 1, or 1 over the root of the layer's inputs. By default "unit" for the synthetic
        data and "fan-in" for MNIST.
    prior_scale, temperature, step, friction : float
        Factor on the prior, temperature of the posterior, and the dynamics; 0 stands for the part's default.
    chains, n_samples, burn_in, thin, n_mc : int
        Chains, samples in all, steps before and between samples, kernel points; 0 stands for the part's default.
    device, out, results, chunk
        "auto" takes a GPU if there is one; CSV file that rows are added to and that a repeated call goes on from; CSV file of
        finished rows to tabulate ("shipped": the run that comes with the package); repetitions sampled side by side.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 2.3.

    Examples
    --------
    >>> GhaneBayes(part="mlp").sampler
    'sghmc'
    """

    part: str = "synthetic"
    data: str = ""
    sizes: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()
    classifier: str = "predictive"
    sampler: str = "sghmc"
    prior: str = ""
    prior_scale: float = 0.0
    temperature: float = 0.0
    step: float = 0.0
    friction: float = 0.0
    chains: int = 0
    n_samples: int = 0
    burn_in: int = 0
    thin: int = 0
    n_mc: int = 0
    device: str = "auto"
    out: str = ""
    results: str = ""
    chunk: int = 50
    group: ClassVar[str] = "reproduction"
    id: ClassVar[str] = "ghane-bayes"
    title: ClassVar[str] = "Bayesian posterior-probability error estimates of neural networks"
    source: ClassVar[str] = "Ghane (2022), dissertation, Texas A&M University, figures 2.7 to 2.9"
    replications: ClassVar[int] = 50
    extra: ClassVar[str] = "torch"
    minutes: ClassVar[float] = 6.0

    def run(self, replications: int, seed: int, reporter: Reporter, n_jobs: int | None) -> BayesResult:
        """Train, sample, estimate, and check what the dissertation concludes."""
        setting = self._setting(seed)
        sizes, widths = self.sizes or SIZES[self.part], self.widths or WIDTHS[self.part]
        if self.results:
            runs = self._read_runs(setting, sizes, widths, replications)
            reporter.say(f"{self.results}: {sum(len(r['n']) for r in runs.values())} finished rows, nothing was run")
            return self._result(runs, setting, min(len(run["n"]) for run in runs.values()))
        if min(sizes) < SMALLEST[self.part]:
            raise InputError(f"sizes is {sizes}; {self.part} needs at least {SMALLEST[self.part]} examples.")
        source = self._source()
        reporter.expect(len(sizes) * len(widths) * replications, self.id)
        from unseen.reproduction.ghane_bayes.runs import run_cell

        runs = {}
        for width in widths:
            for n in sizes:
                rows = run_cell(
                    source,
                    width,
                    n,
                    range(replications),
                    setting,
                    device=self.device,
                    out=Path(self.out) if self.out else None,
                    say=reporter.say,
                    chunk=self.chunk,
                )
                runs[width, n] = _columns(rows)
                reporter.advance(replications)
        return self._result(runs, setting, replications)

    def _setting(self, seed: int) -> BayesSetting:
        if self.part not in PARTS:
            raise UnknownName("part", self.part, PARTS)
        if self.classifier not in CLASSIFIERS:
            raise UnknownName("classifier", self.classifier, tuple(CLASSIFIERS))
        names = (
            "prior",
            "prior_scale",
            "temperature",
            "step",
            "friction",
            "chains",
            "n_samples",
            "burn_in",
            "thin",
            "n_mc",
        )
        chosen = {name: getattr(self, name) for name in names if getattr(self, name)}
        return setting_of(self.part, seed=seed, sampler=self.sampler, **chosen)

    def _source(self) -> Any:
        need_torch(self.id)
        from unseen.reproduction.ghane_bayes.runs import DigitSamples, GaussianSamples

        if self.part == "synthetic":
            return GaussianSamples()
        if not self.data:
            raise InputError(f"give the folder with MNIST's IDX files for the part {self.part!r}: --data DIR.")
        from unseen.reproduction.ghane_mnist.runs import read_mnist

        return DigitSamples(read_mnist(self.data))

    def _read_runs(self, setting: BayesSetting, sizes: Sequence[int], widths: Sequence[int], replications: int) -> Runs:
        rows = ROWS.read_results(self.results, "unseen.reproduction.ghane_bayes")
        wanted = {"part": self.part, "sampler": self.sampler, "prior": setting.prior}
        mine = [row for row in rows if all(row[k] == v for k, v in wanted.items())]
        keys = [(w, n) for w in widths for n in sizes if any((r["width"], r["n"]) == (w, n) for r in mine)]
        if not keys:
            raise InputError(f"{self.results!r} holds no finished rows of {wanted}.")
        return {
            (w, n): _columns([row for row in mine if (row["width"], row["n"]) == (w, n)][:replications])
            for w, n in keys
        }

    def _result(self, runs: Runs, setting: BayesSetting, count: int) -> BayesResult:
        sampling = f"This run: {setting.sampler}, {setting.prior} prior, {setting.n_samples} samples of each posterior."
        columns = CLASSIFIERS[self.classifier]
        summaries = summaries_of(runs, columns)
        return BayesResult(
            experiment=self.id,
            title=self.title,
            source=self.source,
            cells=cells_of(FIGURES[self.part], runs, columns[0], summaries),
            checks=checks_of(summaries),
            replications=count,
            seed=setting.seed,
            remarks=(*REMARKS, sampling),
            runs=runs,
            part=self.part,
            columns=columns,
        )


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Floats]:
    return {k: np.array([row[k] for row in rows], dtype=float) for k, v in rows[0].items() if not isinstance(v, str)}
