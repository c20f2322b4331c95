"""The report of one net's error: how it was measured, the path of a calibration, and the points that carry the error."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.nets._records import CalibratedNetEstimate, NetEstimate
from unseen.report._sections import Block, Section, Table, Text, picture, section
from unseen.resubstitution._result import CalibratedEstimate

__all__: list[str] = []

SHOWN = 10


@section(NetEstimate, 20)
def measure(e: NetEstimate) -> Section:
    """Return the empirical measure in words, with the size of its kernels."""
    where = "in the space of the inputs" if e.space == "input" else f"behind the layer {e.space!r}"
    text = f"The error was integrated under {e.measure or 'the sample'} {where} ({e.integration})."
    if not e.n_fits:
        text += " Nothing was trained again."
    blocks: list[Block] = [Text(text)]
    if e.bandwidth is not None:
        rows: list[list[Any]] = [[k, float(size)] for k, size in enumerate(np.asarray(e.bandwidth))]
        caption = "Root mean variance of the kernels of each class over its coordinates, after scaling."
        blocks.append(Table(["number of the class", "standard deviation"], rows, caption))
    return Section("measure", "How it was measured", blocks)


@section(CalibratedNetEstimate, 30)
@section(CalibratedEstimate, 30)
def calibration(e: CalibratedNetEstimate | CalibratedEstimate) -> Section | None:
    """Return the bias seen for every size of the kernels, drawn and in numbers."""
    if e.curve is None or e.deviations is None:
        return None
    text = (
        f"{e.deviations.shape[1]} copies were trained on 80% of the data. With kernels scaled by kappa = {e.kappa:.4g} their bolstered error comes "
        f"nearest to the error on the 20% left out; the estimate is {100 * e.value:.1f}%, and {100 * e.uncalibrated:.1f}% at kappa = 1."
    )
    spread = getattr(e, "calibration_error", float("nan"))
    if spread == spread:
        text += f" Other splits and other copies would move the estimate by about {100 * spread:.1f} points (standard error)."
    made = picture(e, "calibration")
    table = Table(["kappa", "mean bias", "spread over copies"], [[float(v) for v in line] for line in e.curve])
    blocks: list[Block] = [Text(text), *([made] if made is not None else []), table]
    return Section("calibration", "Calibration", blocks)


@section(NetEstimate, 60)
def hardest(e: NetEstimate) -> Section | None:
    """Return the training points that carry most of the error."""
    if e.contributions is None or not np.any(np.asarray(e.contributions) > 0):
        return None
    values = np.asarray(e.contributions, dtype=float)
    order = np.argsort(-values, kind="stable")[:SHOWN]
    share = float(values[order].sum() / values.sum())
    text = f"The error attributed to each training point; the {len(order)} listed carry {100 * share:.0f}% of the sum over all {len(values)}."
    rows: list[list[Any]] = [[int(k) + 1, float(values[k])] for k in order if values[k] > 0]
    return Section("hardest", "Hardest points", [Text(text), Table(["row, from 1", "error at this point"], rows)])
