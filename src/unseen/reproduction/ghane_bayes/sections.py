"""Report sections of the Bayesian-network experiment."""

from __future__ import annotations

from unseen.reproduction.ghane_bayes.experiment import BayesResult
from unseen.show.sections import Section, figure_section, section

__all__: list[str] = []


@section(BayesResult, 14)
def panels(result: BayesResult) -> Section | None:
    """Return the figure of bias, variance and RMS."""
    return figure_section(result, "bayes-panels", "bayes-panels", "Bias, variance and RMS")


@section(BayesResult, 15)
def calibration(result: BayesResult) -> Section | None:
    """Return the figure of calibration."""
    return figure_section(result, "bayes-calibration", "bayes-calibration", "Is the posterior calibrated?")
