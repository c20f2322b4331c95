"""Data sets on which the interval of the headline is judged once, at the end; no choice about it may look at them.

Listed, with the rules below, before anything about the interval was fitted.

- Families: every classification table and image set of the shared data that shares no source with a set of `small_samples` or `combination_fresh`
  (left out for that reason: Wisconsin prognosis, SPECT, DNA, credit approval, heart, votes, oocytes, cardiotocography, bridges, energy, vertebral column).
  Sets of fewer than 60 rows have too few rows left for a true error; of the others some have no size that fits.
- Missing cells are filled with the column's median; expression sets and images keep the 200 features of largest variance; features are standardised, as in
  `small_samples`.
- Versions: "two" keeps the rows of the two most frequent classes; "all" keeps the classes with at least 5% of the rows, if three or more are left (the ten most
  frequent at most); "rare" sets the most frequent class whose share is between 2% and 10% against all others.
- Sizes 20, 40, 100, 200, 400 and 1,000, if at least five times as many rows exist and the rarest class is expected four times at least; a sample with fewer than
  three rows of a class is drawn again.
- Rules: five of the study, a forest, boosting and logistic regression. Each (version, size) gets four rules, taken in turn.
- The figure: coverage of this model's error at the 95% level by what `unseen.estimate(method="auto")` gives, over all samples whose true error has a standard
  error below a quarter of the interval's half-width, computed at the middle of the interval (at the truth it would choose rows by their outcome); families are the units. In total between .93 and .97, the lower 95% limit of a bootstrap over families at
  least .91; by size, rule, kind and band of the estimate at least .90 if 12 families or more are in a cell, otherwise reported.
- Sharpness: mean interval score against corrected-t on 5 x 10-fold in Wilson's form, at least 10% below, the family-bootstrap interval excluding 0.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from studies.small_samples import KEPT_FEATURES, SHARED

FAMILIES: dict[str, tuple[str, ...]] = {
    "adult": ("uci/adult",),
    "annealing": ("uci/annealing",),
    "arrhythmia": ("fd121/arrhythmia",),
    "audiology": ("uci/audiology-std",),
    "breast-tissue": ("fd121/breast-tissue",),
    "chess-krvk": ("fd121/chess-krvk",),
    "cifar": ("images/cifar",),
    "dermatology": ("fd121/dermatology",),
    "ecoli": ("fd121/ecoli",),
    "fashion": ("images/fashion-mnist",),
    "flags": ("fd121/flags",),
    "glass": ("uci/glass",),
    "horse-colic": ("uci/horse-colic",),
    "khan": ("genomics/khan",),
    "led-display": ("fd121/led-display",),
    "letter": ("uci/letter",),
    "libras": ("fd121/libras",),
    "low-res-spect": ("fd121/low-res-spect",),
    "lymphography": ("fd121/lymphography",),
    "mnist": ("images/mnist",),
    "nursery": ("fd121/nursery",),
    "optdigits": ("uci/optdigits",),
    "page-blocks": ("fd121/page-blocks",),
    "pendigits": ("uci/pendigits",),
    "plant": ("fd121/plant-margin", "fd121/plant-shape", "fd121/plant-texture"),
    "pomeroy": ("genomics/pomeroy",),
    "post-operative": ("fd121/post-operative",),
    "primary-tumor": ("fd121/primary-tumor",),
    "satellite": ("uci/satellite",),
    "segmentation": ("uci/image-segmentation",),
    "semeion": ("fd121/semeion",),
    "shuttle": ("uci/shuttle",),
    "sorlie": ("genomics/sorlie",),
    "soybean": ("uci/soybean",),
    "steel-plates": ("fd121/steel-plates",),
    "synthetic-control": ("fd121/synthetic-control",),
    "vowel": ("uci/vowel",),
    "wine-quality": ("fd121/wine-quality-red", "fd121/wine-quality-white"),
    "wisconsin-original": ("fd121/breast-cancer-wisc",),
    "yeast": ("fd121/yeast",),
    "zoo": ("uci/zoo",),
}
FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names}
SIZES = (20, 40, 100, 200, 400, 1000)
VERSIONS = ("two", "all", "rare")
LEAST_TIMES = 5  # rows of a version over the size of a sample; the truth then has a standard error of a quarter of the half-width at most
LEAST_EXPECTED = 4  # rows of the rarest class in a sample; with fewer, drawing again would change the population
LEAST_SHARE, MOST_CLASSES = 0.05, 10
RARE_SHARES = (0.02, 0.1)
OF_IMAGES = 10_000  # images read of each set


@cache
def raw(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features, missing ones filled with medians, and labels of a set."""
    if name == "images/cifar":
        found = np.load(SHARED / "images" / "cifar10_test10k.npz")
        return found["x"].reshape(len(found["x"]), -1).astype(float), found["y"].astype(int)
    if name.startswith("images/"):
        folder = SHARED / name
        pixels = gzip.decompress((folder / "t10k-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((folder / "t10k-labels-idx1-ubyte.gz").read_bytes())
        X = np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 784)[:OF_IMAGES]
        return X.astype(float), np.frombuffer(labels, np.uint8, offset=8)[:OF_IMAGES].astype(int)
    import pandas as pd

    frame = pd.read_csv(SHARED / f"{name}.csv.gz")
    X, y = frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy().astype(int)
    X = X[:, ~np.isnan(X).all(axis=0)]
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), y


@cache
def version(name: str, kind: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return standardised features and labels of a version of a set; None if the set has no such version."""
    X, y = raw(name)
    labels, counts = np.unique(y, return_counts=True)
    order = labels[np.argsort(-counts, kind="stable")]
    share = dict(zip(labels, counts / len(y)))
    if kind == "two":
        rows, codes = np.isin(y, order[:2]), (y == order[0]).astype(int)
    elif kind == "all":
        chosen = [c for c in order if share[c] >= LEAST_SHARE][:MOST_CLASSES]
        if len(chosen) < 3:
            return None
        rows, codes = np.isin(y, chosen), y
    else:
        few = [c for c in order if RARE_SHARES[0] <= share[c] < RARE_SHARES[1]]
        if not few:
            return None
        rows, codes = np.full(len(y), True), (y == few[0]).astype(int)
    X, codes = X[rows], codes[rows]
    X = X[:, np.ptp(X, axis=0) > 1e-9]
    if name.startswith(("genomics/", "images/")) and X.shape[1] > KEPT_FEATURES:
        X = X[:, np.sort(np.argsort(-X.var(axis=0), kind="stable")[:KEPT_FEATURES])]
    return (X - X.mean(axis=0)) / X.std(axis=0), codes


@dataclass(frozen=True)
class Cell:
    """A version of a set at a sample size."""

    set: str
    kind: str
    n: int


def cells() -> Iterator[Cell]:
    """Yield every version and size with enough rows."""
    for name in FAMILY_OF:
        for kind in VERSIONS:
            found = version(name, kind)
            if found is not None:
                rows, rarest = len(found[1]), np.unique(found[1], return_counts=True)[1].min()
                enough = (n for n in SIZES if rows >= LEAST_TIMES * n and rarest * n >= LEAST_EXPECTED * rows)
                yield from (Cell(name, kind, n) for n in enough)
