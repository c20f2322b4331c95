"""Generalized resubstitution: exact against Monte Carlo, batches against point by point, against 10-fold CV; growth with n."""

from __future__ import annotations

import resource
from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import alternating, cpu_seconds, row
from unseen import resubstitution as R
from unseen.datasets.populations import GaussianBlocks
from unseen.resubstitution.kernels import Spherical

PUBLISHED_3NN = 0.31955  # seconds; Ghane (2022), table 2.5, 3NN, n = 100
TWO = np.array([0, 1])


def _sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    return GaussianBlocks().draw(n, np.random.default_rng(0)).xy


def _point_by_point(model, X, y, n_mc: int = 100) -> float:
    """Bolster with one call of predict for the kernel points of each training point."""
    spread = Spherical().spread(X, y, TWO).bandwidth
    rng = np.random.default_rng(0)
    wrong = [np.mean(model.predict(x + spread[c] * rng.standard_normal((n_mc, X.shape[1]))) != c) for x, c in zip(X, y)]
    return float(np.mean(wrong))


def _three_neighbours() -> list[dict]:
    X, y = _sample(100)
    model = KNeighborsClassifier(3).fit(X, y)
    own, loop = alternating(lambda: R.bolster(model, X, y, random_state=0), lambda: _point_by_point(model, X, y), 15)
    name = "bolster, 3NN, n = 100, M = 100"
    guide = row(name, own, PUBLISHED_3NN, "published table 2.5", "at most 1/25 of it", own <= PUBLISHED_3NN / 25)
    batch = row(name, own, loop, "predict for each point's 100", "at least 3 times less", loop >= 3 * own)
    return [guide, batch]


def _exact(n: int, factor: float) -> dict:
    X, y = _sample(n)
    model = LinearSVC().fit(X, y)
    own, drawn = alternating(
        lambda: [R.bolster(model, X, y, random_state=0) for _ in range(20)],
        lambda: [R.bolster(model, X, y, random_state=0, exact=False) for _ in range(20)],
        7,
    )
    own, drawn = own / 20, drawn / 20
    name = f"bolster, linear SVM, exact, n = {n:,}"
    return row(
        name, own, drawn, "ours by Monte Carlo, M = 100", f"at least {factor:g} times less", drawn >= factor * own
    )


def _against_cv() -> list[dict]:
    X, y = _sample(100)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    rows = []
    for name, model in (
        ("linear SVM", LinearSVC()),
        ("RBF SVM", SVC()),
        ("CART", DecisionTreeClassifier(min_samples_split=5, random_state=0)),
        ("3NN", KNeighborsClassifier(3)),
    ):
        model.fit(X, y)
        for method in ("bolster", "semi_bolster", "posterior", "bolster_posterior"):
            call = partial(getattr(R, method), model, X, y, random_state=0)
            own, peer = alternating(call, partial(cross_val_score, model, X, y, cv=folds), 7)
            rows.append(row(f"{method.replace('_', '-')}, {name}, n = 100", own, peer, "10-fold CV", "reported", True))
    return rows


def _calibration() -> dict:
    X, y = _sample(100)
    model = KNeighborsClassifier(3).fit(X, y)
    steps, root = (R.calibrated_bolster(model, X, y, search=s, random_state=0) for s in ("step", "root"))
    own = cpu_seconds(lambda: R.calibrated_bolster(model, X, y, search="root", random_state=0), 3)
    peer = cpu_seconds(lambda: R.calibrated_bolster(model, X, y, search="step", random_state=0), 3)
    remark = (
        f"{len(root.curve)} evaluations (kappa {root.kappa:.3g}) against {len(steps.curve)} (kappa {steps.kappa:.3g})"
    )
    met = len(root.curve) < len(steps.curve)
    return row("calibrated-bolster, root search, 3NN", own, peer, "step search", "fewer evaluations", met, remark)


def _growth() -> list[dict]:
    """Seconds for n = 62,500 to 250,000 in ten dimensions, their exponent in n, and the memory this took."""
    kinds = ("bandwidth", "exact", "drawn", "posterior", "bolster-posterior (4 points per kernel)")
    sizes, seconds = (62_500, 125_000, 250_000), {kind: [] for kind in kinds}
    for n in sizes:
        X, y = _sample(n)
        model = LinearSVC().fit(X, y)
        drawn = partial(R.bolster, model, X, y, exact=False, n_mc=20, random_state=0)
        seconds["bandwidth"].append(cpu_seconds(partial(Spherical().spread, X, y, TWO), 3))
        seconds["exact"].append(cpu_seconds(partial(R.bolster, model, X, y), 3))
        seconds["drawn"].append(cpu_seconds(drawn, 3))
        seconds["posterior"].append(cpu_seconds(partial(R.posterior, model, X, y), 1))
        both = partial(R.bolster_posterior, model, X, y, n_mc=4, random_state=0)
        seconds[kinds[-1]].append(cpu_seconds(both, 1))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = []
    for what, times in seconds.items():
        power = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        remark = "seconds " + ", ".join(f"{t:.2f}" for t in times) + f"; peak memory of the process {memory:.2f} GB"
        why = (
            "; points look in their own part of at most 30,000, kernel points of at most 12,500"
            if "posterior" in what
            else "; 5,000 points of a class ask for their neighbour"
        )
        rows.append(
            {
                "benchmark": f"{what}, n = 62,500 to 250,000, d = 10: exponent in n",
                "ours (s)": times[-1],
                "target": "exponent at most 1.2, under 2 GB",
                "met": "yes" if power <= 1.2 and memory < 2 else "NO",
                "remark": f"exponent {power:.2f}; {remark}{why}",
            }
        )
    return rows


def run() -> list[dict]:
    """Return the rows of this benchmark."""
    return [*_growth(), *_three_neighbours(), _exact(100, 5), _exact(1000, 8), _calibration(), *_against_cv()]
