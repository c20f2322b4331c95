"""Sections for distributions of errors over splits, and for two of them compared."""

from __future__ import annotations

from typing import Any

from unseen.core.distribution import DistributionComparison, ErrorDistribution
from unseen.report._sections import Notes, Section, Text, figure_section, section, table_of

__all__: list[str] = []

HOW = (
    "avr, tavr and med are the mean, the mean without 5% at each end, and the median; std, mad and iqr the standard "
    "deviation, the median absolute deviation and the distance of the quartiles. The spread over splits of one data set "
    "tells how the error varies with the rows trained and tested on, mostly the latter; it is no standard error of the mean."
)


@section(ErrorDistribution, 10)
def summary(d: ErrorDistribution) -> Section:
    """Return what the error is and how it varies."""
    lead = (
        f"Half of the splits have an error of at most {d.med:.4g}, and 95% of at most {d.fractile(0.95):.4g} "
        f"({d.loss or 'error'}, {len(d.values)} splits)."
    )
    sizes = f"{d.model or 'The model'}, trained on {d.n_train:g} and tested on {d.n_test:g} units in each split."
    blocks: list[Any] = [Text(lead, lead=True), Text(sizes), table_of(d.rows()), Text(HOW)]
    return Section("summary", "Distribution of the error", [*blocks, *([Notes(d.notes)] if d.notes else [])])


@section(ErrorDistribution, 20)
def curve(d: ErrorDistribution) -> Section | None:
    """Return the distribution function."""
    return figure_section(d, "error-distribution", "distribution", "Distribution over splits")


@section(DistributionComparison, 10)
def comparison(c: DistributionComparison) -> Section:
    """Return the difference with both standard errors."""
    warning = (
        "The naive standard error takes overlapping splits for independent ones and is too small; it is shown because "
        "it is often quoted. The corrected one is meant to be on the safe side. The share of splits on which the first is worse speaks of splits, not of data sets."
    )
    blocks: list[Any] = [Text(str(c), lead=True), table_of(c.rows()), Text(warning)]
    each = [{"model": name, **row} for name, d in zip(c.names, (c.first, c.second)) for row in d.rows()]
    blocks += [table_of(each, "Each model by itself"), *([Notes(c.notes)] if c.notes else [])]
    return Section("summary", "Comparison on the same splits", blocks)


@section(DistributionComparison, 20)
def overlaid(c: DistributionComparison) -> Section | None:
    """Return both distribution functions."""
    return figure_section(c, "error-distributions", "distributions", "Distributions over splits")


@section(DistributionComparison, 30)
def differences(c: DistributionComparison) -> Section | None:
    """Return the differences split by split."""
    return figure_section(c, "error-differences", "differences", "Differences split by split")
