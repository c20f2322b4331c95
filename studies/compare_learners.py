"""Learners of the study of tests, trained on all resamples of many samples at once, in torch.

A learner is a function of features (samples x rows x columns), target (samples x rows) and weights (samples x resamples x rows, how
often a row is trained on). It returns what each resample's model gives for every row: the log-odds or the chance of class 1, or a
number. Only rows of weight 0 may be read: the others were trained on. The tests compare all of them with scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["LEARNERS", "boosting", "lda", "least_squares", "nearest", "quadratic", "tree"]

SHRINK = 0.001  # share of the identity in QDA's covariances, as the model named qda has it

Learner = Callable[[Tensor, Tensor, Tensor], Tensor]


def _moments(X: Tensor, W: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return weight, mean and covariance of each resample, divided by the weight."""
    total = W.sum(2)
    mean = W @ X / total[..., None]
    d = X.shape[2]
    products = (X[:, :, :, None] * X[:, :, None, :]).flatten(2)
    second = (W @ products / total[..., None]).unflatten(2, (d, d))
    return total, mean, second - mean[..., :, None] * mean[..., None, :]


def lda(X: Tensor, y: Tensor, W: Tensor) -> Tensor:
    """Return the log-odds of linear discriminant analysis."""
    (n0, m0, c0), (n1, m1, c1) = (_moments(X, W * (y == k)[:, None]) for k in (0, 1))
    pooled = (n0[..., None, None] * c0 + n1[..., None, None] * c1) / (n0 + n1)[..., None, None]
    slope = torch.linalg.solve(pooled, (m1 - m0)[..., None])[..., 0]
    start = torch.log(n1 / n0) - ((m0 + m1) / 2 * slope).sum(2)
    return start[..., None] + slope @ X.mT


def quadratic(X: Tensor, y: Tensor, W: Tensor) -> Tensor:
    """Return the log-odds of quadratic discriminant analysis."""
    odds = torch.zeros_like(W)
    for sign, k in ((-1, 0), (1, 1)):
        total, mean, cov = _moments(X, W * (y == k)[:, None])
        cov = (1 - SHRINK) * cov + SHRINK * torch.eye(X.shape[2]).to(X)
        root = torch.linalg.cholesky(cov)
        gap = (X[:, None] - mean[:, :, None]).mT
        distance = torch.linalg.solve_triangular(root, gap, upper=False).square().sum(2)
        size = torch.log(total) - root.diagonal(dim1=2, dim2=3).log().sum(2)
        odds = odds + sign * (size[..., None] - distance / 2)
    return odds


def least_squares(X: Tensor, y: Tensor, W: Tensor) -> Tensor:
    """Return the numbers that least squares predicts."""
    total, mean, cov = _moments(X, W)
    centre = (W @ y[..., None])[..., 0] / total
    cross = W @ (X * y[..., None]) / total[..., None] - mean * centre[..., None]
    slope = torch.linalg.solve(cov, cross[..., None])[..., 0]
    return (centre - (mean * slope).sum(2))[..., None] + slope @ X.mT


def nearest(k: int) -> Learner:
    """Return k nearest neighbours: the mean target of the k nearest draws, copies counted as often as drawn."""
    within = 20 + 5 * k  # of so many nearest rows fewer than k are drawn in less than one in a million

    def learner(X: Tensor, y: Tensor, W: Tensor) -> Tensor:
        S, R, n = W.shape
        gaps = torch.cdist(X, X, compute_mode="donot_use_mm_for_euclid_dist")
        drawn = (W > 0).any(1)  # rows of test parts alone are nobody's neighbours
        gaps = gaps.masked_fill(~drawn[:, None, :], torch.inf) + torch.diag(torch.full((n,), torch.inf)).to(X)
        near = gaps.topk(min(within, n), dim=2, largest=False).indices
        m = near.shape[2]
        flat = near.reshape(S, 1, n * m)
        counts = W.gather(2, flat.expand(S, R, n * m)).reshape(S, R, n, m)
        taken = torch.minimum((k - (counts.cumsum(3) - counts)).clamp(min=0), counts)
        return torch.einsum("srnm,snm->srn", taken, y.gather(1, flat[:, 0]).reshape(S, n, m)) / k

    return learner


def _grow(X: Tensor, target: Tensor, W: Tensor, depth: int) -> Tensor:
    """Return the leaf of every row in a tree grown by squared error (for two classes that is Gini's index)."""
    S, R, n = W.shape
    rank = X.argsort(1).argsort(1).mT
    columns = X.mT
    worth = W * target
    node = torch.zeros((S, R, n), dtype=torch.int64, device=X.device)
    place = torch.arange(n, device=X.device).expand(S, R, n)
    far = torch.full_like(W, torch.inf)
    for _ in range(depth):
        total = torch.zeros_like(W).scatter_add(2, node, W)
        worths = torch.zeros_like(W).scatter_add(2, node, worth)
        before, worth_before = total.cumsum(2) - total, worths.cumsum(2) - worths
        best = worths.square() / total.clamp(min=1) * (1 + 1e-10) + 1e-10  # a split must gain more than rounding
        chosen, threshold = torch.zeros_like(node), far.clone()
        for f in range(X.shape[2]):
            order = (node * n + rank[:, f, None]).argsort(2)
            w, s, k = W.gather(2, order), worth.gather(2, order), node.gather(2, order)
            x = columns[:, f, None].expand(S, R, n).gather(2, order)
            left, sum_left = w.cumsum(2) - before.gather(2, k), s.cumsum(2) - worth_before.gather(2, k)
            right, sum_right = total.gather(2, k) - left, worths.gather(2, k) - sum_left
            gain = sum_left.square() / left + sum_right.square() / right
            gain = torch.where((w > 0) & (right > 0.5), gain, -far)
            top = (-far).scatter_reduce(2, k, gain, "amax")
            at = torch.where((gain == top.gather(2, k)) & torch.isfinite(gain), place, n - 1)
            first = torch.full_like(node, n - 1).scatter_reduce(2, k, at, "amin")
            low = x.gather(2, first)
            later = torch.where((w > 0) & (x > low.gather(2, k)), x, far)
            high = far.scatter_reduce(2, k, later, "amin")
            better = top > best
            best, chosen = torch.where(better, top, best), torch.where(better, f, chosen)
            threshold = torch.where(better, (low + high) / 2, threshold)
        column = chosen.gather(2, node)
        value = torch.zeros_like(W)
        for f in range(X.shape[2]):
            value = torch.where(column == f, columns[:, f, None], value)
        side = value > threshold.gather(2, node)
        if not side.any():
            break
        key = 2 * node + side
        names = torch.zeros((S, R, 2 * n), dtype=torch.int64, device=X.device).scatter(2, key, 1).cumsum(2) - 1
        node = names.gather(2, key)
    return node


def _leaf_means(node: Tensor, target: Tensor, W: Tensor) -> Tensor:
    total = torch.zeros_like(W).scatter_add(2, node, W)
    worth = torch.zeros_like(W).scatter_add(2, node, W * target)
    return (worth / total.clamp(min=1e-300)).gather(2, node)


def tree(depth: int) -> Learner:
    """Return a tree of that depth; where no split gains anything it stops earlier."""

    def learner(X: Tensor, y: Tensor, W: Tensor) -> Tensor:
        target = y[:, None].expand_as(W)
        return _leaf_means(_grow(X, target, W, depth), target, W)

    return learner


def boosting(rounds: int, rate: float = 0.3) -> Learner:
    """Return gradient boosting of stumps by the logistic loss, with Newton's leaf values: log-odds."""

    def learner(X: Tensor, y: Tensor, W: Tensor) -> Tensor:
        share = (W @ y[..., None])[..., 0] / W.sum(2)
        odds = torch.log(share / (1 - share))[..., None].expand_as(W)
        for _ in range(rounds):
            chance = torch.sigmoid(odds)
            residual = y[:, None] - chance
            node = _grow(X, residual, W, 1)
            curvature = torch.zeros_like(W).scatter_add(2, node, W * chance * (1 - chance))
            step = torch.zeros_like(W).scatter_add(2, node, W * residual) / curvature.clamp(min=1e-3)
            odds = odds + rate * step.gather(2, node)
        return odds

    return learner


LEARNERS: dict[str, Learner] = {
    "LDA": lda,
    "QDA": quadratic,
    "least squares": least_squares,
    "7NN": nearest(7),
    "1NN": nearest(1),
    "tree of depth 3": tree(3),
    "deep tree": tree(40),
    "boosting": boosting(20),
}
