"""Do groups differ in their kinetics? Rates and pools of subjects, compared by small-sample error estimators (4.4.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from unseen.core.arrays import Array
from unseen.core.errors import InputError
from unseen.core.estimate import Estimate
from unseen.core.notes import Note, note
from unseen.core.result import Result, plain
from unseen.core.rng import RandomState, root_seed, stream, task_seed
from unseen.kinetics.fitting import FitKeywords, fit
from unseen.kinetics.kinetic_study import KineticStudy
from unseen.kinetics.scheme import PHE_TYR, scheme_of
from unseen.kinetics.table import columns_of, read_study

__all__ = [
    "FEATURES",
    "FeatureDifference",
    "GroupComparison",
    "compare_groups",
    "differences",
    "smallest_p",
    "statistics",
]


FEATURES = ("k21", "k12", "k02", "k43", "k34", "k04", "kconv", "Q1", "Q2", "Q3", "Q4")
METHODS = ("loo", "bolster", "resub", "repeated-kfold")
_FEW = 10  # subjects per group; an error rate near a half then has a standard error above a tenth
_FEWEST = 3  # subjects per group; leaving one of two out leaves no spread to learn from
# the usual level: if the smallest p-value that permutations can reach lies above it, a note says so
_SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class GroupComparison(Result):
    """Groups compared by their kinetics.

    Attributes
    ----------
    study : KineticStudy
    group : str
        Column that holds the groups.
    sizes : dict
        Subjects in each group.
    estimates : dict
        Error of telling the groups apart, by method.
    chance : float
        Error of always naming the largest group.
    p_value : float
        Share of permuted studies whose error is as small or smaller.
    permutations : int
    decided_by : str
        Method whose error the permutation test compares.
    features : tuple of FeatureDifference
    notes : tuple of Note

    Examples
    --------
    >>> import unseen
    >>> made = unseen.kinetics.simulate(6, groups={"a": {}, "b": {"k02": 3.0}}, between=0.1, random_state=0)
    >>> fitted = unseen.kinetics.fit(made.ttr, made.doses, locations=["EC-EC"])
    >>> compare_groups(fitted, group="group", methods=("bolster",), permutations=19, random_state=0).sizes
    {'a': 3, 'b': 3}
    """

    shown_by: ClassVar[str] = "unseen.kinetics"

    study: KineticStudy
    group: str
    sizes: Mapping[str, int]
    estimates: Mapping[str, Estimate]
    chance: float
    p_value: float
    permutations: int
    decided_by: str
    features: tuple[FeatureDifference, ...]
    notes: tuple[Note, ...] = ()

    title = "Groups compared by their kinetics"

    def rows(self) -> list[dict[str, Any]]:
        """One row per rate or pool."""
        return [
            {"feature": f.name, **f.means, "statistic": f.statistic, "p_value": f.p_value, "adjusted": f.adjusted}
            for f in self.features
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "group": self.group,
            "sizes": dict(self.sizes),
            "chance": self.chance,
            "p_value": self.p_value,
            "permutations": self.permutations,
            "decided_by": self.decided_by,
            "estimates": {k: plain(e) for k, e in self.estimates.items()},
            "features": plain(self.rows()),
            "location": self.study.location,
            "failures": dict(self.study.failures),
            "notes": plain(self.notes),
        }

    def sentence(self) -> str:
        """The answer in one sentence."""
        best = self.estimates[self.decided_by]
        return (
            f"Told apart by rates and pools with an estimated error of {100 * best.value:.0f}% ({self.decided_by}), against "
            f"{100 * self.chance:.0f}% by naming the largest group; permutation p = {self.p_value:.3g}."
        )

    def __str__(self) -> str:
        sizes = ", ".join(f"{k} {v}" for k, v in self.sizes.items())
        lines = [f"{self.group}: {sizes}", self.sentence(), ""]
        for name, e in self.estimates.items():
            span = "" if e.interval is None else f"  [{e.interval.low:.3f}, {e.interval.high:.3f}]"
            lines.append(f"  {name:<15} {e.value:.3f}{span}  {e.target}")
        lines.append("")
        for f in self.features:
            means = ", ".join(f"{k} {v:.4g}" for k, v in f.means.items())
            lines.append(f"  {f.name:<6} {means}  p = {f.p_value:.3g}, adjusted {f.adjusted:.3g}")
        return "\n".join([*lines, *(f"  {n}" for n in self.notes)])


def compare_groups(
    ttr: Any,
    doses: Any = None,
    *,
    group: str,
    features: Sequence[str] = FEATURES,
    model: Any = None,
    methods: Sequence[str] = METHODS,
    permutations: int = 199,
    random_state: RandomState = None,
    **options: Unpack[FitKeywords],
) -> GroupComparison:
    """Test whether groups of subjects differ in their kinetics.

    Rates and pools of every subject are fitted, their logarithms become features, and the error of a classifier that separates
    the groups apart is estimated by methods made for a handful of examples. No flux has to be computed.

    Parameters
    ----------
    ttr, doses : table
        As in :func:`unseen.kinetics.fit`; the dose table holds the column of groups. A fitted study may be given instead,
        with no doses.
    group : str
        Column of the dose table.
    features : sequence of str
        Rates and pools; those that all subjects have are used.
    model : object or str, optional
        A classifier; linear discriminant analysis with automatic shrinkage after standardisation by default.
    methods : sequence of str
        Error estimators of this package; the first decides the permutation test (leave-one-out has more power there than
        estimators that do not retrain).
    permutations : int
        Random exchanges of the group labels.
    random_state : int or Generator, optional
    **options
        Keywords of :func:`unseen.kinetics.fit`.

    Returns
    -------
    GroupComparison

    References
    ----------
    Braga-Neto, U. and Dougherty, E. (2004), Pattern Recognition 37, 1267-1281 (bolstering); Westfall, P. and Young, S. (1993),
    Resampling-Based Multiple Testing.

    Examples
    --------
    >>> import unseen
    >>> made = unseen.kinetics.simulate(12, groups={"a": {}, "b": {"k02": 3.0}}, between=0.1, random_state=0)
    >>> fitted = unseen.kinetics.fit(made.ttr, made.doses, locations=["EC-EC"])
    >>> result = unseen.kinetics.compare_groups(fitted, group="group", permutations=19, random_state=0)
    >>> result.p_value <= 0.1, min(result.features, key=lambda f: f.adjusted).name
    (True, 'k02')
    """
    if permutations < 19:
        raise InputError(f"permutations is {permutations}; at least 19 are needed for a p-value of 0.05.")
    if not methods:
        raise InputError("methods is empty; name at least one error estimator, such as 'bolster'.")
    seed = root_seed(random_state)
    study = ttr if isinstance(ttr, KineticStudy) else _fit(ttr, doses, group, options)
    names, X, labels = _table(study, group, features)
    sizes = {str(k): int(np.sum(labels == k)) for k in np.unique(labels)}
    _check_sizes(group, sizes)
    estimates = {m: _error(model, X, labels, m, seed) for m in methods}
    observed = estimates[methods[0]].value
    orders = [stream(seed, "permutation", i).permutation(labels.size) for i in range(permutations)]
    shuffled = [_error(model, X, labels[o], methods[0], seed).value for o in orders]
    p = (1 + sum(v <= observed + 1e-12 for v in shuffled)) / (1 + permutations)
    largest = max(sizes.values()) / labels.size
    found = differences(names, X, labels, orders)
    return GroupComparison(
        study=study,
        group=group,
        sizes=sizes,
        estimates=estimates,
        chance=1 - largest,
        p_value=float(p),
        permutations=permutations,
        decided_by=methods[0],
        features=found,
        notes=_notes(study, sizes),
    )


def _fit(ttr: Any, doses: Any, group: str, options: FitKeywords) -> KineticStudy:
    """Fit the subjects, but only if their groups can be compared: a fit takes long, a look at the dose table does not."""
    samples, given = columns_of(ttr, "ttr"), columns_of(doses, "doses")
    subjects, _ = read_study(
        samples,
        given,
        scheme_of(options.get("scheme", PHE_TYR)),
        unit=options.get("unit", "fraction"),
        time_unit=options.get("time_unit", "min"),
        drop_early=options.get("drop_early"),
        need_sd=options.get("error") == "sd",
    )
    groups = _groups({s.name: s.covariates for s in subjects}, group) if subjects else []
    sizes = Counter(groups)
    # a group too small to compare may still lose all its subjects to failed fits; one large group alone can never do
    if subjects and sum(n >= _FEWEST for n in sizes.values()) < 2:
        _check_sizes(group, sizes)
    return fit(samples, given, **options)


def _groups(covariates: Mapping[str, Mapping[str, Any]], group: str) -> list[str]:
    """Group of each subject; an error names those that have none."""
    missing = [name for name, found in covariates.items() if group not in found or _empty(found[group])]
    if missing:
        known = sorted({k for found in covariates.values() for k in found})
        raise InputError(
            f"the dose table gives no {group!r} for {', '.join(missing[:5])}; its further columns are {', '.join(known) or 'none'}."
        )
    return [str(found[group]) for found in covariates.values()]


def _table(study: KineticStudy, group: str, features: Sequence[str]) -> tuple[list[str], Array, Array]:
    """Logarithms of the features of all subjects, and their groups."""
    groups = _groups({f.subject: f.covariates for f in study}, group)
    values = [f.values() for f in study]
    names = [n for n in features if all(v.get(n, 0.0) > 0 for v in values)]
    if not names:
        raise InputError(f"no feature of {', '.join(features)} is positive in every subject.")
    X = np.log(np.array([[v[n] for n in names] for v in values]))
    return names, X, np.array(groups)


def _empty(value: Any) -> bool:
    return value is None or value != value or str(value).strip() == ""


def _check_sizes(group: str, sizes: Mapping[str, int]) -> None:
    if len(sizes) < 2:
        raise InputError(
            f"{group!r} has one value only ({next(iter(sizes))!r}); a comparison needs at least two groups."
        )
    small = {k: v for k, v in sizes.items() if v < _FEWEST}
    if small:
        raise InputError(f"groups of fewer than {_FEWEST} fitted subjects cannot be compared: {small}.")


def _error(model: Any, X: Array, labels: Array, method: str, seed: int) -> Estimate:
    from unseen.assessment.estimate import estimate

    chosen = _default_model() if model is None else model
    options = {"design": _rounds(labels)} if method == "repeated-kfold" else {}
    return estimate(chosen, X, labels, method=method, random_state=task_seed(seed, method), progress=False, **options)


def _rounds(labels: Array) -> Any:
    """Repeated folds, no more of them than the smallest group has members."""
    from unseen.designs.repeated_kfold import RepeatedKFold

    return RepeatedKFold(n_folds=int(min(10, np.unique(labels, return_counts=True)[1].min())))


def _default_model() -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"))


def _notes(study: KineticStudy, sizes: Mapping[str, int]) -> tuple[Note, ...]:
    out = []
    if min(sizes.values()) < _FEW:
        text = ", ".join(f"{k} {v}" for k, v in sizes.items())
        out.append(note("U009", f"few subjects per group ({text})"))
    if (smallest := smallest_p(list(sizes.values()))) > _SIGNIFICANT:
        text = f"groups this small have no p-value below about {smallest:.2g}, however much they differ"
        out.append(note("U009", text))
    if study.failures:
        out.append(note("K010", f"left out: {', '.join(study.failures)}"))
    return tuple(out)


@dataclass(frozen=True, kw_only=True)
class FeatureDifference:
    """One rate or pool in two or more groups.

    Attributes
    ----------
    name : str
    means : dict
        Geometric mean of each group.
    statistic : float
        Welch's t of the logarithms for two groups, the F ratio for more.
    p_value, adjusted : float
        By permutation of the subjects; adjusted for looking at all features (largest statistic of each permutation).
    """

    name: str
    means: Mapping[str, float]
    statistic: float
    p_value: float
    adjusted: float


def differences(names: list[str], X: Array, labels: Array, orders: list[Array]) -> tuple[FeatureDifference, ...]:
    """Each feature by itself, by permutation, with the largest statistic of each permutation for adjustment."""
    observed = statistics(X, labels)
    null = np.array([np.abs(statistics(X, labels[o])) for o in orders])
    raw = (1 + np.sum(null >= np.abs(observed) - 1e-12, axis=0)) / (1 + len(orders))
    top = null.max(axis=1)
    adjusted = np.array([(1 + np.sum(top >= abs(s) - 1e-12)) / (1 + len(orders)) for s in observed])
    groups = np.unique(labels)
    return tuple(
        FeatureDifference(
            name=n,
            means={str(k): float(np.exp(X[labels == k, i].mean())) for k in groups},
            statistic=float(observed[i]),
            p_value=float(raw[i]),
            adjusted=float(adjusted[i]),
        )
        for i, n in enumerate(names)
    )


def statistics(X: Array, labels: Array) -> Array:
    """Return Welch's t of each column for two groups, the F ratio for more."""
    groups = np.unique(labels)
    parts = [X[labels == k] for k in groups]
    if len(parts) == 2:
        a, b = parts
        spread = a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b)
        t: Array = (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(np.maximum(spread, 1e-300))
        return t
    within = sum(((p - p.mean(axis=0)) ** 2).sum(axis=0) for p in parts)
    between = sum(len(p) * (p.mean(axis=0) - X.mean(axis=0)) ** 2 for p in parts)
    f: Array = (between / (len(parts) - 1)) / np.maximum(within / (len(X) - len(parts)), 1e-300)
    return f


def smallest_p(sizes: Sequence[int]) -> float:
    """Share of all ways to deal the subjects that part them as they are; groups of equal size may change their names."""
    ways = math.factorial(sum(sizes)) / math.prod(map(math.factorial, sizes))
    return math.prod(math.factorial(sizes.count(s)) for s in set(sizes)) / ways
