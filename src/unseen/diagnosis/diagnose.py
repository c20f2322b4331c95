"""`unseen.diagnose`: what resampling shows about a model beyond one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import comb
from typing import Any

from unseen._version import __version__
from unseen.checks.registry import data_notes
from unseen.core.call import Call
from unseen.core.errors import InputError, UnknownName
from unseen.core.notes import Note, merge_notes, note
from unseen.core.rng import RandomState, stream
from unseen.designs.learning_curve import LearningCurve
from unseen.designs.leave_out import LeaveOut
from unseen.diagnosis.coefficients import coefficients_of, read_coefficients
from unseen.diagnosis.dependence import check_permutations, dependence_test
from unseen.diagnosis.diagnosis import Diagnosis
from unseen.diagnosis.importance import column_groups, permutation_importance
from unseen.diagnosis.learning_curve import learning_curve
from unseen.diagnosis.noise import noise_tolerance
from unseen.diagnosis.optimism import optimism_link
from unseen.diagnosis.ranking import ranking_stability
from unseen.diagnosis.units import unit_report
from unseen.request.prepare import data_of, model_of
from unseen.request.request import Request, open_request

__all__ = ["DiagnosisEffort", "diagnose"]

COEFFICIENTS = ("jackknife", "bootstrap")


@dataclass(frozen=True, kw_only=True)
class DiagnosisEffort:
    """How many fits each part may take: splits, curve sizes and repeats, noise samples, permutations, bootstrap samples, rounds of folds.

    Without a number, permutations are 999 if one solve answers for all of them (least squares, ridge), else 99.
    """

    splits: int = 100
    sizes: int = 6
    repeats: int = 10
    noise: int = 20
    permutations: int | None = None
    bootstrap: int = 200
    importance: int = 5


EFFORTS = {
    "full": DiagnosisEffort(),
    "quick": DiagnosisEffort(splits=30, sizes=5, repeats=4, noise=6, permutations=39, bootstrap=100, importance=2),
}


def diagnose(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    others: Mapping[str, Any] | None = None,
    loss: str = "auto",
    coefficients: str = "jackknife",
    noise: str = "labels",
    rates: Sequence[float] = (0.0, 0.1, 0.2, 0.3),
    together: Mapping[str, Sequence[str]] | None = None,
    effort: str | DiagnosisEffort = "full",
    permutations: int | None = None,
    level: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    ids: Any = None,
    positive: Any = None,
    task: Any = None,
    duplicates: str = "auto",
) -> Diagnosis:
    """Mine the refits of a model for more than its error.

    Parameters
    ----------
    model : object with fit and predict, or name of a model
        Cloned before every fit.
    X, y : array-like
        Sample.
    others : mapping of name to model, optional
        Models whose ranking with this one is followed over the splits.
    loss : str
        Id of a loss of single examples; "auto" is zero-one for classes and squared error for numbers.
    coefficients : {"jackknife", "bootstrap"}
        Intervals of coefficients: delete-d jackknife over the leave-out splits, or bootstrap quantiles (more fits).
    noise : {"labels", "features"}
        What is corrupted in the test of noise tolerance.
    rates : sequence of float
        Shares of labels changed, or multiples of a column's standard deviation added.
    together : mapping of str to sequence of str, optional
        Columns whose importance is that of the group, such as `{"size": ["height", "weight"]}`: they are permuted as one, since
        correlated columns hide each other. Every other column stands alone.
    permutations : int, optional
        Permutations of the test of dependence; by default those of the effort. `unseen.permutation_test` makes that test alone.
    effort : "full", "quick" or DiagnosisEffort
        How many fits the parts take.
    level : float
        Confidence level.
    random_state : int, Generator or None
        Same seed, same numbers, whatever `n_jobs`.
    n_jobs, engine, progress
        As in `unseen.run`.
    groups, sample_weight, time, ids, positive, task
        As in `unseen.datasets.as_data`.
    duplicates : {"auto", "together", "apart"}
        As in `unseen.assess`.

    Returns
    -------
    Diagnosis

    References
    ----------
    Laur, S. (2021). Performance evaluation. Lecture slides, Machine Learning II, University of Tartu. Shao, J. and Wu,
    C. F. J. (1989). A general theory for jackknife variance estimation. Annals of Statistics 17, 1176-1197. Ojala, M. and
    Garriga, G. C. (2010). Permutation tests for studying classifier performance. JMLR 11, 1833-1863.

    Examples
    --------
    >>> import unseen
    >>> X, y = unseen.datasets.load("breast-cancer").xy
    >>> d = unseen.diagnose("lda", X, y, random_state=0, effort="quick")
    >>> d.dependence.p, d.coefficients.method
    (0.025, 'delete-d jackknife')
    """
    call = Call.of(diagnose, locals())
    if isinstance(effort, str) and effort not in EFFORTS:
        raise UnknownName("effort", effort, EFFORTS)
    if coefficients not in COEFFICIENTS:
        raise InputError(f"coefficients is {coefficients!r}; it is one of {', '.join(COEFFICIENTS)}.")
    if noise not in ("labels", "features") or not len(rates) or min(rates) < 0:
        raise InputError("noise is 'labels' or 'features', and rates are numbers of at least 0.")
    wanted = EFFORTS[effort] if isinstance(effort, str) else effort
    if permutations is not None:
        check_permutations(permutations)
        wanted = replace(wanted, permutations=permutations)
    data = data_of(
        X,
        y,
        groups=groups,
        sample_weight=sample_weight,
        time=time,
        ids=ids,
        positive=positive,
        task=task,
        duplicates=duplicates,
    )
    column_groups(data, together)  # refused before anything is fitted
    with open_request(
        model,
        data,
        loss=loss,
        level=level,
        random_state=random_state,
        n_jobs=n_jobs,
        engine=engine,
        progress=progress,
    ) as request:
        made = _diagnose(request, wanted, others or {}, coefficients, noise, tuple(map(float, rates)), together)
        return replace(made, command=call.text(random_state=request.seed))


def _diagnose(
    request: Request,
    effort: DiagnosisEffort,
    others: Mapping[str, Any],
    how: str,
    noise: str,
    rates: tuple[float, ...],
    together: Mapping[str, Sequence[str]] | None,
) -> Diagnosis:
    data = request.data
    possible = comb(data.n_units, max(1, -(-data.n_units // 4)))
    design = LeaveOut(0.25, min(effort.splits, possible))
    table = request.run(design, train=True, probes={"coefficients": read_coefficients}).losses(request.loss)
    if table.by_split:
        raise InputError(f"{table.loss} exists for whole test parts only; diagnose with a loss of single examples.")
    notes: list[Note] = [*data_notes(data), *table.notes]
    curve_table = request.run(LearningCurve(effort.sizes, effort.repeats), train=True).losses(request.loss)
    curve = learning_curve(curve_table, data.n_units, stream(request.seed, "curve"), request.level)
    if curve is not None:
        notes.append(
            note("U022", f"the learning curve is extended beyond the {curve.sizes[-1]:g} units it was run with")
        )
    importance, many = permutation_importance(request, effort.importance, together)
    notes += many
    dependence, remark = dependence_test(request, effort.permutations)
    ranking = None
    if others:
        every = {request.model.name: table}
        every |= {
            name: request.run(design, model=model_of(one, data)).losses(request.loss) for name, one in others.items()
        }
        ranking = ranking_stability(every)
    settings = {
        "seed": request.seed,
        "level": request.level,
        "effort": asdict(effort),
        "noise": noise,
        "rates": list(rates),
        "coefficients": how,
        "data_fingerprint": data.fingerprint,
        "version": __version__,
    }
    return Diagnosis(
        units=unit_report(table),
        optimism=optimism_link(table),
        coefficients=coefficients_of(request, table, how, effort.bootstrap),
        curve=curve,
        noise=noise_tolerance(request, effort.noise, noise, rates),
        dependence=dependence,
        importance=importance,
        ranking=ranking,
        table=table,
        data=data,
        model=request.model.name,
        settings=settings,
        notes=merge_notes(tuple(notes), remark),
    )
