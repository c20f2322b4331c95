"""The Davies-Bouldin index of labelled points (Davies & Bouldin 1979)."""

from __future__ import annotations

import torch

__all__ = ["davies_bouldin"]


def davies_bouldin(points: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the mean over clusters of the worst ratio of spreads to the distance of centres; 0 for one cluster only.

    Centres that coincide count as infinitely far apart, so that they cannot decide.

    Examples
    --------
    >>> points = torch.tensor([[0.0], [2.0], [10.0], [12.0]])
    >>> davies_bouldin(points, torch.tensor([0, 0, 1, 1]))
    0.2
    """
    found, which = torch.unique(labels, return_inverse=True)
    points, k = points.double(), len(found)
    member = torch.nn.functional.one_hot(which, k).to(points)
    counts = member.sum(0)
    centres = (member.T @ points) / counts[:, None]
    to_centre = (points - centres[which]).norm(dim=1)
    spread = (member.T @ to_centre) / counts
    apart = torch.cdist(centres, centres, compute_mode="donot_use_mm_for_euclid_dist")
    if k < 2 or bool((spread < 1e-8).all()) or bool((apart < 1e-8).all()):
        return 0.0
    ratio = (spread[:, None] + spread[None, :]) / torch.where(apart == 0, torch.inf, apart)
    return float(ratio.amax(1).mean())
