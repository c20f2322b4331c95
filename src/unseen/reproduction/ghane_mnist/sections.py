"""Report sections of the MNIST experiment."""

from __future__ import annotations

from unseen.reproduction.ghane_mnist.experiment import MnistResult
from unseen.show.sections import Section, figure_section, section

__all__: list[str] = []


@section(MnistResult, 14)
def rms(result: MnistResult) -> Section | None:
    """Return the figure of RMS by size."""
    return figure_section(result, "mnist-rms", "mnist-rms", "Error of the error estimates")


@section(MnistResult, 15)
def digits(result: MnistResult) -> Section | None:
    """Return the figure of noisy digits."""
    return figure_section(result, "noisy-digits", "noisy-digits", "Monte-Carlo images")
