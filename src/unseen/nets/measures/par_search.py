"""Par-Search: augmentation ranges calibrated on held-out rows, then the error on augmented training images (Ghane 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unseen.core.errors import InputError, NotApplicable
from unseen.nets.augmentation.factors import KINDS, draw_factors
from unseen.nets.measures._augmented import classify_augmented
from unseen.nets.measures.measure import LayerLog, Measure, register
from unseen.nets.modules.net import Net

__all__ = ["ParSearch", "search_rings"]


@register
@dataclass(frozen=True)
class ParSearch(Measure):
    """Misclassified share of augmented training images, the strength of augmentation chosen to fit a hold-out error.

    A copy of the network was trained on 80% of the rows. For each augmentation in turn the ring (first, second or last third of its
    range; never, by coin or always for Sobel filter and flip) is kept with which the copy's error on its own augmented training
    images comes nearest to its error on the rows held out. With these rings the network itself is measured on all training images.

    Parameters
    ----------
    n_augment : int
        Augmented copies of each image, for every candidate.

    References
    ----------
    Ghane, P. (2022). Dissertation, Texas A&M University, section 3.2.2; the order of the search, the candidates and the
    criterion are not printed there and are those described above.

    Examples
    --------
    >>> from unseen.nets import sample_net
    >>> 0 <= ParSearch()(sample_net("conv")).value <= 1
    True
    """

    n_augment: int = 1

    id: ClassVar[str] = "par-search"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    cost: ClassVar[str] = "retrains"
    needs: ClassVar[frozenset[str]] = frozenset({"images", "copy80"})
    sheets: ClassVar[tuple[str, ...]] = ("strong", "weak", "fixed", "all")
    default_draws: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if isinstance(self.n_augment, bool) or not isinstance(self.n_augment, int) or self.n_augment < 1:
            raise InputError(f"n_augment is {self.n_augment!r}; it must be a whole number of at least 1.")

    def once(self, net: Net, generator: torch.Generator, layers: LayerLog) -> float:
        """Search once and return the network's error with the rings found."""
        rings, _ = search_rings(net, generator, self.n_augment)
        return _error(net, rings, generator, self.n_augment)


def search_rings(net: Net, generator: torch.Generator, n_augment: int = 1) -> tuple[dict[str, int], float]:
    """Return the rings whose estimate for the copy comes nearest to its hold-out error, and the difference left.

    All candidates see the same random numbers, so that they differ by their rings alone.
    """
    copy = net.copy80
    if copy is None:
        raise NotApplicable("par-search needs a copy trained on 80% of the rows, which this network does not have.")
    held_out = torch.zeros(net.n, dtype=torch.bool, device=net.device)
    held_out[copy.held_out.to(net.device)] = True
    if bool(held_out.all()):
        raise NotApplicable("par-search needs rows the copy was trained on; all are said to be held out.")
    with torch.no_grad():
        logits = torch.cat([copy.module(part) for part in net.X_train[held_out].split(net.batch_size)])
    target = float((logits.argmax(1) != net.y_train[held_out]).double().mean())
    seed = int(torch.randint(0, 2**62, (1,), generator=generator))
    rows = torch.nonzero(~held_out)[:, 0]
    rings, tried = dict.fromkeys(KINDS, 1), {}
    for kind in KINDS:
        for ring in (1, 2, 3):
            candidate = {**rings, kind: ring}
            key = tuple(candidate.values())
            if key not in tried:
                same = torch.Generator().manual_seed(seed)
                tried[key] = abs(_error(net, candidate, same, n_augment, copy.module, rows) - target)
        rings[kind] = min((1, 2, 3), key=lambda ring: tried[tuple({**rings, kind: ring}.values())])
    return rings, tried[tuple(rings.values())]


def _error(
    net: Net,
    rings: dict[str, int],
    generator: torch.Generator,
    n_augment: int,
    module: torch.nn.Module | None = None,
    rows: torch.Tensor | None = None,
) -> float:
    n = net.n if rows is None else len(rows)
    wrong = [
        classify_augmented(
            net, draw_factors(n, generator, ring=rings, device=net.device), module=module, rows=rows
        ).wrong
        for _ in range(n_augment)
    ]
    return float(torch.cat(wrong).double().mean())
