"""One temperature that makes a net's probabilities honest, with its interval and what it changes (Guo and others, 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from unseen.core.arrays import Floats, Ints
from unseen.core.errors import InputError
from unseen.core.estimate import Interval, check_level
from unseen.core.notes import Note, note
from unseen.core.result import Result
from unseen.measures.calibration import bins_of

__all__ = ["ReliabilityBins", "Temperature", "best_temperature", "fit_temperature"]

N_BINS = 15  # as Guo and others have it
PER_BIN = 20  # different rows a bin: fewer show nothing but chance
LOW, HIGH = -6.9078, 6.9078  # log T is sought between: T from 1e-3 to 1e3
EDGE = 0.01  # a log T nearer than this to an end of the search is no minimum


@dataclass(frozen=True, eq=False, kw_only=True)
class ReliabilityBins:
    """Share of right answers against the net's confidence, in bins of about as many cases each.

    Parameters
    ----------
    confidence, right : ndarray
        Mean probability of the class named, and the share of right answers, in each bin.
    low, high : ndarray
        Limits of that share which hold for all bins together (Wilson's, each at level 1 - alpha / bins; a row that several copies left out counts once).
    count : ndarray of int
        Cases in each bin.
    error : float
        Expected calibration error: mean distance of the two over cases. Chance alone makes it larger than 0.
    """

    confidence: Floats
    right: Floats
    low: Floats
    high: Floats
    count: Ints
    error: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Temperature(Result):
    """The temperature of a net's probabilities: softmax(logits / value) is calibrated on rows the net has not seen.

    Parameters
    ----------
    value : float
        Above 1, the net is too sure of itself; below 1, not sure enough.
    interval : Interval or None
        Over rows and, if it comes from copies, over other copies; None if there is no minimum.
    loss_before, loss_after : float
        Mean of -log p(true class), as the net gives it and at the temperature that the other half of the rows chose.
    before, after : ReliabilityBins
        The same for confidence and share of right answers.
    n_rows, n_copies : int
        Different rows behind it; copies of the net that left them out, 0 if the net itself was asked.
    notes : tuple of Note
        Weaknesses.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks. ICML.
    """

    shown_by: ClassVar[str] = "unseen.nets"

    value: float
    interval: Interval | None
    loss_before: float
    loss_after: float
    before: ReliabilityBins
    after: ReliabilityBins
    n_rows: int
    n_copies: int
    notes: tuple[Note, ...] = ()

    title: ClassVar[str] = "Temperature of a net's probabilities"

    def apply(self, logits: Any) -> Any:
        """Return calibrated probabilities of logits."""
        import torch

        return (torch.as_tensor(logits) / self.value).softmax(-1)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per bin, before and after."""
        names = ("confidence", "right", "low", "high", "count")
        return [
            {"probabilities": words, **{name: float(v) for name, v in zip(names, line)}}
            for words, bins in (("as given", self.before), ("at the temperature", self.after))
            for line in zip(*(getattr(bins, name) for name in names))
        ]

    @property
    def verdict(self) -> str:
        """What to make of it, in one sentence."""
        if self.interval is None:
            return "No temperature can be found from these rows."
        if self.interval.low > 1:
            return "The net is too sure of itself: divide its logits by the temperature."
        if self.interval.high < 1:
            return "The net is less sure than it may be: divide its logits by the temperature."
        return "The interval holds 1: its probabilities may do as they are."

    def __str__(self) -> str:
        if self.interval is None:
            return f"temperature: {self.verdict}"
        rows = f"{self.n_rows} rows" + (f" left out by {self.n_copies} copies" if self.n_copies else "")
        return (
            f"temperature {self.value:.3g}, {100 * self.interval.level:g}% interval {self.interval}; calibration error {self.before.error:.3f} before, "
            f"{self.after.error:.3f} after ({rows}). {self.verdict}"
        )


def best_temperature(logits: Any, codes: Any) -> float:
    """Return the temperature T > 0 with the smallest mean of -log softmax(logits / T) at the true classes.

    The loss is convex in 1/T; golden-section search on log T between 1e-3 and 1e3.

    Examples
    --------
    >>> import torch
    >>> z = torch.tensor([[2.0, 0.0]] * 4)
    >>> round(best_temperature(z, torch.tensor([0, 0, 0, 1])), 3)  # softmax(z / T) = (3/4, 1/4): T = 2 / log 3
    1.82
    """
    import torch

    z, rows = logits.double(), torch.arange(len(logits), device=logits.device)

    def loss(log_t: float) -> float:
        return float(-(z / torch.exp(torch.tensor(log_t))).log_softmax(1)[rows, codes].mean())

    low, high, ratio = LOW, HIGH, (5**0.5 - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = loss(a), loss(b)
    for _ in range(50):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = loss(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = loss(b)
    return float(torch.exp(torch.tensor((low + high) / 2, dtype=torch.float64)))


def fit_temperature(logits: Any, y: Any, *, rows: Any = None, copies: Any = None, level: float = 0.95) -> Temperature:
    """Find the temperature of logits of rows that the net was not trained on.

    Parameters
    ----------
    logits : array-like of shape (n, classes)
        What the net gives for rows it was not trained on, such as a calibration split.
    y : array-like of int
        Class numbers, columns of the logits.
    rows : array-like of int, optional
        Which row each one is, if some come several times (from different copies of the net); all different by default.
    copies : array-like of int, optional
        Which copy of the net each one comes from; by default the net itself.
    level : float
        Of the interval and of the limits of the bins.

    Returns
    -------
    Temperature

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks. ICML.

    Examples
    --------
    >>> import torch
    >>> generator = torch.Generator().manual_seed(0)
    >>> honest = torch.randn(3000, 3, generator=generator)
    >>> y = torch.multinomial(honest.softmax(1), 1, generator=generator)[:, 0]
    >>> found = fit_temperature(3 * honest, y)  # three times too sure
    >>> 3 in found.interval, found.after.error < found.before.error
    (True, True)
    """
    import torch

    check_level(level)
    z = torch.as_tensor(logits).detach().double().cpu()
    if z.ndim != 2 or len(z) < 2 or z.shape[1] < 2 or not bool(torch.isfinite(z).all()):
        raise InputError(
            f"logits have shape {tuple(z.shape)}; finite numbers of shape (rows, classes) are needed, at least two of each."
        )
    codes = torch.as_tensor(y).long().cpu()
    if codes.shape != (len(z),) or int(codes.min()) < 0 or int(codes.max()) >= z.shape[1]:
        raise InputError(
            f"y has shape {tuple(codes.shape)}; one class number from 0 to {z.shape[1] - 1} for each of {len(z)} rows is needed."
        )
    which = np.unique(np.arange(len(z)) if rows is None else np.asarray(rows), return_inverse=True)[1].reshape(-1)
    origin = None if copies is None else np.unique(np.asarray(copies), return_inverse=True)[1].reshape(-1)
    if len(which) != len(z) or (origin is not None and len(origin) != len(z)):
        raise InputError(f"rows and copies name the origin of each of {len(z)} rows of logits.")
    found = best_temperature(z, codes)
    interval: Interval | None = None
    notes: tuple[Note, ...] = ()
    wrong = int((z.argmax(1) != codes).sum())
    if wrong and abs(np.log(found)) < HIGH - EDGE:
        error = _log_error(z, codes, found, which, origin)
        factor = np.exp(NormalDist().inv_cdf((1 + level) / 2) * error)
        interval = Interval(float(found / factor), float(found * factor), level)
    else:
        notes = (note("N024", f"{wrong} of {len(z)} rows are wrong; the smallest loss is at no finite temperature"),)
    honest = _at_other_half(z, codes, found, which)
    return Temperature(
        value=found,
        interval=interval,
        loss_before=_log_loss(z, codes),
        loss_after=_log_loss(honest, codes),
        before=_reliability(z, codes, which, level),
        after=_reliability(honest, codes, which, level),
        n_rows=int(which.max()) + 1,
        n_copies=0 if origin is None else int(origin.max()) + 1,
        notes=notes,
    )


def _log_loss(z: Any, codes: Any) -> float:
    import torch

    return float(-z.log_softmax(1)[torch.arange(len(z)), codes].mean())


def _scores(z: Any, codes: Any, temperature: float) -> tuple[Floats, Floats]:
    """Return the first and second derivatives of each case's loss by log T."""
    import torch

    s = z / temperature
    p = s.softmax(1)
    mean = (p * s).sum(1)
    variance = (p * (s - mean[:, None]).square()).sum(1)
    first = s[torch.arange(len(s)), codes] - mean
    return first.numpy(), (variance - first).numpy()


def _log_error(z: Any, codes: Any, temperature: float, rows: Ints, copies: Ints | None) -> float:
    """Return the standard error of log T: over rows, those of one row taken together, and over copies beyond what their rows explain.

    What one copy would change is its Newton step from the common temperature: finite for a copy without an error, too.
    """
    first, second = _scores(z, codes, temperature)
    curvature = float(second.mean())
    variance = float(np.square(np.bincount(rows, first)).sum()) / (curvature * len(z)) ** 2
    if copies is not None and copies.max() > 0:
        sizes = np.bincount(copies)
        steps = np.bincount(copies, first) / (curvature * sizes)
        explained = np.mean(np.bincount(copies, first**2) / (curvature * sizes) ** 2)
        # the net is one more of its kind: its own temperature differs from the mean of the copies
        variance += max(float(np.var(steps, ddof=1)) - float(explained), 0.0) * (1 + 1 / len(sizes))
    return float(np.sqrt(variance))


def _at_other_half(z: Any, codes: Any, temperature: float, rows: Ints) -> Any:
    """Return logits divided by the temperature that the other half of the rows chose, so that what it changes is not judged by its own choice."""
    import torch

    out = z / temperature
    for half in (0, 1):
        mine = torch.as_tensor(rows % 2 == half)
        if bool(mine.any()) and int((~mine).sum()) > 1:
            out[mine] = z[mine] / best_temperature(z[~mine], codes[~mine])
    return out


def _reliability(z: Any, codes: Any, rows: Ints, level: float) -> ReliabilityBins:
    p, named = z.softmax(1).max(1)
    confidence, right = p.numpy(), (named == codes).double().numpy()
    bins = bins_of(confidence, min(N_BINS, max(1, (int(rows.max()) + 1) // PER_BIN)))
    count = np.bincount(bins)
    mean, share = (np.bincount(bins, v) / count for v in (confidence, right))
    different = np.array([len(np.unique(rows[bins == k])) for k in range(len(count))])
    # Wilson's limits, here in numpy alone: nets are estimated on machines without scipy
    q = NormalDist().inv_cdf(1 - (1 - level) / (2 * len(count))) ** 2
    centre = (share + q / (2 * different)) / (1 + q / different)
    half = np.sqrt(q * (share * (1 - share) + q / (4 * different)) / different) / (1 + q / different)
    return ReliabilityBins(
        confidence=mean,
        right=share,
        low=np.maximum(centre - half, 0.0),
        high=np.minimum(centre + half, 1.0),
        count=count,
        error=float(np.abs(mean - share) @ count / len(z)),
    )
