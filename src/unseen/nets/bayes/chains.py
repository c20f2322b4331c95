"""Have the chains settled: split R-hat and effective sample size (Gelman et al., 2013; Geyer, 1992)."""

from __future__ import annotations

import numpy as np

from unseen.core.arrays import Floats

__all__ = ["effective_size", "largest_r_hat", "split_r_hat"]


def split_r_hat(draws: Floats) -> float:
    """Return the potential scale reduction of chains cut in halves; near 1 if all halves look alike.

    Parameters
    ----------
    draws : ndarray of shape (chains, draws)
        At least four draws in each chain; NaN with fewer.

    References
    ----------
    Gelman, A. et al. (2013). Bayesian Data Analysis, 3rd edition, section 11.4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> settled = rng.standard_normal((4, 500))
    >>> round(split_r_hat(settled), 1), split_r_hat(settled + 2 * np.arange(4)[:, None]) > 1.5
    (1.0, True)
    """
    return float(_r_hats(draws[:, :, None])[0])


def _r_hats(draws: Floats) -> Floats:
    """Return split R-hat of each of K quantities, draws of shape (chains, draws, K)."""
    half = draws.shape[1] // 2
    if half < 2:
        return np.full(draws.shape[2], np.nan)
    parts = np.concatenate([draws[:, :half], draws[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = half * parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(((half - 1) / half * within + between / half) / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def largest_r_hat(draws: Floats) -> tuple[float, float]:
    """Return the largest split R-hat of K quantities, and what it stays below in 95 of 100 cases for independent draws.

    The largest of many R-hats of short chains is far above 1 by chance alone, so it needs a yardstick of its own.

    Parameters
    ----------
    draws : ndarray of shape (chains, draws, K)
        At least four draws in each chain; NaN with fewer.

    Returns
    -------
    largest, limit : float

    Examples
    --------
    >>> largest, limit = largest_r_hat(np.random.default_rng(0).standard_normal((4, 10, 100)))
    >>> bool(1.05 < largest < 1.05 * limit)
    True
    """
    chains, length, count = draws.shape
    rng = np.random.default_rng(0)
    null = [float(_r_hats(rng.standard_normal((chains, length, count))).max()) for _ in range(60)]
    return float(_r_hats(draws).max()), float(np.quantile(null, 0.95))


def effective_size(draws: Floats) -> float:
    """Return how many independent draws the chains are worth for the mean.

    Autocorrelations over all chains, summed while the sums of neighbouring pairs stay positive and do not grow.

    Parameters
    ----------
    draws : ndarray of shape (chains, draws)
        At least four draws in each chain; NaN with fewer.

    References
    ----------
    Geyer, C. J. (1992). Practical Markov chain Monte Carlo. Statistical Science 7, 473-483.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(1500 < effective_size(rng.standard_normal((4, 500))) <= 2000 * np.log10(2000))
    True
    """
    chains, length = draws.shape
    if length < 4:
        return float("nan")
    centred = draws - draws.mean(axis=1, keepdims=True)
    size = 2 ** int(np.ceil(np.log2(2 * length)))
    spectrum = np.abs(np.fft.rfft(centred, size, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, size, axis=1)[:, :length].mean(axis=0) / length
    within = covariance[0] * length / (length - 1)
    total = within * (length - 1) / length + (draws.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    if total <= 0:
        return float(chains * length)
    rho = 1 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: length // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: stop[0] if len(stop) else None])
    time = max(-1 + 2 * pairs.sum(), 1 / np.log10(chains * length))
    return float(chains * length / time)
