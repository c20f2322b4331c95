"""From what a store keeps back to rankings, benches, scores, estimates and sheets. Needs numpy alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from unseen.core.arrays import Floats
from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Target
from unseen.core.notes import kind_of
from unseen.core.result import Result, from_dict
from unseen.nets.augmentation.sheet import AugmentationSheet, unpack_images
from unseen.nets.estimates.records import CalibratedNetEstimate, NetEstimate
from unseen.nets.measures.value import MeasureValue
from unseen.nets.ranking.bench_record import Bench
from unseen.nets.ranking.cmi import NoiseFloor, Score
from unseen.nets.ranking.measure_scores import MeasureScores
from unseen.nets.ranking.ranking_record import NetRanking

__all__ = ["KINDS", "from_store"]

Record = TypeVar("Record", bound=Result)
# what a bench or the scores of measures have instead if only `to_dict()` was kept
NO_NETWORKS: dict[str, Any] = {"gap": [], "values": {}, "axes": {}}


def from_store(kept: Any) -> Result:
    """Return a kept ranking, bench, score, estimate or sheet as the record it was, to draw it or report on it again.

    Parameters
    ----------
    kept : unseen.store.Kept
        As `store.record(number)` returns it.

    Returns
    -------
    NetRanking, Bench, MeasureScores, Score, NetEstimate or AugmentationSheet

    Examples
    --------
    >>> from unseen.nets import cmi
    >>> from unseen.store import open_store
    >>> grid = {"depth": [1, 1, 1, 1, 2, 2, 2, 2], "width": [8, 8, 9, 9] * 2, "dropout": [0, 1] * 4}
    >>> number = cmi([1, 2, 3, 4, 5, 6, 8, 7], range(8), grid).keep("sqlite:///example.db", "mine")
    >>> with open_store("sqlite:///example.db") as store:
    ...     again = from_store(store.record(number))
    >>> again.n_networks, again.sizes
    (8, (2,))
    """
    if kept.kind not in KINDS:
        raise UnknownName("kind of a record about nets", kept.kind, KINDS)
    try:
        return KINDS[kept.kind](kept.payload)
    except InputError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"the record {kept.name!r} does not hold what a {kept.kind} consists of ({type(error).__name__}: {error}); "
            "it is damaged, or was filed by other means."
        ) from error


def _record(cls: type[Record], values: Mapping[str, Any], *needed: str) -> Record:
    """Make a record from its fields; those `needed` must be there although the class has a default for them."""
    for name in needed:
        values[name]
    try:
        made = from_dict(cls, values)
    except InputError as error:  # `from_store` names the damaged record
        raise TypeError(str(error).removesuffix(".")) from error
    for one in getattr(made, "notes", ()):
        kind_of(one.code)
    return made


def _check_numbers(values: Any, *shape: int) -> None:
    """Refuse numbers of another shape, or that are not finite."""
    found = np.asarray(values)
    if found.shape != shape or not np.isfinite(found).all():
        raise InputError(f"the record holds numbers of shape {found.shape}, some perhaps missing; {shape} are needed.")


def _check_networks(gap: Floats, values: Mapping[str, Floats], axes: Mapping[str, list[Any]]) -> None:
    """Refuse values and hyper-parameters that are not those of as many networks as there are gaps."""
    n = len(gap)
    _check_numbers(gap, n)
    for column in values.values():  # NaN if a measure was not taken
        if column.shape != (n,) or np.isinf(column).any():
            raise InputError(f"the record holds numbers of shape {column.shape} for {n} networks.")
    if any(len(column) != n for column in axes.values()):
        raise InputError(f"the record does not hold every hyper-parameter of its {n} networks.")


def _sheet(payload: Mapping[str, Any]) -> AugmentationSheet:
    # a store has the images packed into a text
    images = unpack_images(payload["images"])
    if images.ndim != 5:
        raise InputError(f"images of shape {images.shape} make no sheet.")
    sheet = _record(AugmentationSheet, {**payload, "images": images})
    rows, columns = images.shape[:2]
    if len(sheet.row_labels) != rows or [len(row) for row in sheet.labels] != [columns] * rows:
        raise InputError("the images of the record and their names do not fit each other.")
    _check_numbers(sheet.penalties, rows, columns)
    return sheet


def _sheets(payload: Mapping[str, Any]) -> tuple[AugmentationSheet, ...]:
    return tuple(map(_sheet, payload.get("sheets") or ()))


def _ranking(payload: Mapping[str, Any]) -> NetRanking:
    names = list(map(str, payload["names"]))  # networks may be numbered
    n = len(names)
    if not n:
        raise InputError("the ranking names no network.")
    # a store sorts the keys of a mapping: the order of the measures and of the layers left out is kept in lists
    measures = [str(m) for m in payload.get("measures") or payload["values"]]
    fields = {
        "names": names,
        "values": {m: tuple(map(_value, payload["values"][m])) for m in measures},
        "agreement": _agreement(payload["agreement"], measures),
        "sheets": _sheets(payload),
    }
    ranking = _record(NetRanking, {**payload, **fields}, "notes")
    if any(len(found) != n for found in ranking.values.values()):
        raise InputError(f"the ranking does not hold one value of every measure for each of its {n} networks.")
    _check_numbers(ranking.score, n)
    _check_numbers(ranking.accuracy, n)
    _check_numbers(ranking.probability, n, n)
    return ranking


def _value(held: Mapping[str, Any]) -> MeasureValue:
    return _record(MeasureValue, {**held, "skipped": dict(held["skipped"])}, "used")


def _agreement(held: Any, measures: list[str]) -> dict[tuple[str, str], Any]:
    """Return what is kept for each pair of measures; JSON has no pairs as keys."""
    if isinstance(held, Mapping):  # what `to_dict` writes
        pairs = [(a, b) for i, a in enumerate(measures) for b in measures[:i] + measures[i + 1 :]]
        return {pair: held[text] for pair in pairs if (text := " vs ".join(pair)) in held}
    return {(str(one["measure"]), str(one["other"])): one["tau"] for one in held}


def _bench(payload: Mapping[str, Any]) -> Bench:
    bench = _record(Bench, {**NO_NETWORKS, "seeds": [], **payload, "sheets": _sheets(payload)}, "left_out", "notes")
    _check_numbers([bench.noise_floor], 1)
    _check_numbers(bench.seeds, len(bench.seeds))
    _check_networks(bench.gap, bench.values, bench.axes)
    return bench


def _score(held: Mapping[str, Any]) -> Score:
    # JSON has no sets of hyper-parameters as keys, and the networks behind a score are not kept
    by_set = {tuple(map(str, one["fixed"])): one["score"] for one in held["by_set"]}
    fields = {"by_set": by_set, "self_pairs": bool(held["self_pairs"]), "parts": None}
    score = _record(Score, {**held, **fields}, "notes")
    if all(np.isnan(value) for value in score.by_set.values()):
        raise InputError("the score has no set of hyper-parameters.")
    _check_numbers([score.value], 1)
    return score


def _floor(held: Mapping[str, Any]) -> NoiseFloor:
    floor = _record(NoiseFloor, {**held, "scores": []})  # the scores of the permutations are not kept
    _check_numbers([floor.mean, floor.quantile, floor.p_value], 3)
    return floor


def _scores(payload: Mapping[str, Any]) -> MeasureScores:
    # one list with everything about a measure instead of a mapping for each field: a store would lose the order
    held = payload["measures"]
    if not held:
        raise InputError("the record scores no measure.")
    known = [one for one in held if one.get("adjusted_p_value") is not None]
    fields = {
        "scores": {str(one["measure"]): _score(one) for one in held},
        "floors": {str(one["measure"]): _floor(one["noise_floor"]) for one in held},
        "adjusted": {str(one["measure"]): one["adjusted_p_value"] for one in known},
    }
    scores = _record(MeasureScores, {**NO_NETWORKS, **payload, **fields})
    _check_networks(scores.gap, scores.values, scores.axes)
    return scores


def _estimate(payload: Mapping[str, Any]) -> NetEstimate:
    made = _record(CalibratedNetEstimate if "kappa" in payload else NetEstimate, payload)
    _check_numbers([made.value], 1)
    if made.target.kind not in (Target.MODEL.kind, Target.ALGORITHM.kind):
        raise ValueError(f"{made.target.kind!r} is no kind of target")
    return made


KINDS: dict[str, Callable[[Any], Result]] = {
    "nets-rank": _ranking,
    "nets-bench": _bench,
    "nets-cmi": _scores,
    "nets-score": _score,
    "nets-estimate": _estimate,
    "nets-augmentations": _sheet,
}
