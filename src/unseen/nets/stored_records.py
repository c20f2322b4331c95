"""From what a store keeps back to rankings, benches, scores, estimates and sheets. Needs numpy alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.core.errors import InputError, UnknownName
from unseen.core.estimate import Interval, Target
from unseen.core.notes import Note, note
from unseen.core.result import Result
from unseen.nets.augmentation.sheet import AugmentationSheet, unpack_images
from unseen.nets.estimates.records import CalibratedNetEstimate, NetEstimate
from unseen.nets.measures.value import MeasureValue
from unseen.nets.ranking.bench_record import Bench, BenchLine
from unseen.nets.ranking.cmi import NoiseFloor, Score
from unseen.nets.ranking.measure_scores import MeasureScores
from unseen.nets.ranking.ranking_record import NetRanking

__all__ = ["KINDS", "from_store"]

Floats = NDArray[np.float64]


def from_store(kept: Any) -> Result:
    """Return a kept ranking, bench, score, estimate or sheet as the record it was, to draw it or report on it again.

    Parameters
    ----------
    kept : unseen.store.Kept
        As `store.kept_one(number)` returns it.

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
    ...     again = from_store(store.kept_one(number))
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


def _number(value: Any) -> float:
    """Return a number; None stands for NaN in a store."""
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _maybe(value: Any) -> float | None:
    return None if value is None else _number(value)


def _array(values: Any) -> Floats:
    if not isinstance(values, list):
        raise TypeError(f"a {type(values).__name__} is not a list of numbers")
    if values and isinstance(values[0], list):
        return np.array([[_number(v) for v in row] for row in values])
    return np.array([_number(v) for v in values])


def _floats(values: Any, *shape: int) -> Floats:
    """Return finite numbers of a given shape."""
    found = _array(values)
    if found.shape != shape or not np.isfinite(found).all():
        raise InputError(f"the record holds numbers of shape {found.shape}, some perhaps missing; {shape} are needed.")
    return found


def _column(values: Any, n: int) -> Floats:
    """Return numbers of n networks; NaN if a measure was not taken."""
    found = _array(values)
    if found.shape != (n,) or np.isinf(found).any():
        raise InputError(f"the record holds numbers of shape {found.shape} for {n} networks.")
    return found


def _notes(values: Any) -> tuple[Note, ...]:
    return tuple(note(str(one["code"]), str(one["text"])) for one in values)


def _interval(value: Any) -> Interval | None:
    return None if value is None else Interval(*(_number(value[name]) for name in ("low", "high", "level")))


def _sheet(payload: Mapping[str, Any]) -> AugmentationSheet:
    images = unpack_images(payload["images"])
    if images.ndim != 5:
        raise InputError(f"images of shape {images.shape} make no sheet.")
    rows, columns = images.shape[:2]
    labels = tuple(tuple(map(str, row)) for row in payload["labels"])
    names = tuple(map(str, payload["row_labels"]))
    if len(names) != rows or [len(row) for row in labels] != [columns] * rows:
        raise InputError("the images of the record and their names do not fit each other.")
    return AugmentationSheet(
        category=str(payload["category"]),
        row_labels=names,
        labels=labels,
        penalties=_floats(payload["penalties"], rows, columns),
        images=images,
    )


def _sheets(payload: Mapping[str, Any]) -> tuple[AugmentationSheet, ...]:
    return tuple(map(_sheet, payload.get("sheets") or ()))


def _value(held: Mapping[str, Any]) -> MeasureValue:
    return MeasureValue(
        measure=str(held["measure"]),
        value=_number(held["value"]),
        std_error=_maybe(held["std_error"]),
        draws=int(held["draws"]),
        seconds=_number(held["seconds"]),
        used=tuple(map(str, held["used"])),
        skipped={str(k): str(v) for k, v in dict(held["skipped"]).items()},
    )


def _ranking(payload: Mapping[str, Any]) -> NetRanking:
    names = tuple(map(str, payload["names"]))
    n = len(names)
    if not n:
        raise InputError("the ranking names no network.")
    measures = [str(m) for m in payload.get("measures") or payload["values"]]
    values = {m: tuple(map(_value, payload["values"][m])) for m in measures}
    if any(len(found) != n for found in values.values()):
        raise InputError(f"the ranking does not hold one value of every measure for each of its {n} networks.")
    score, accuracy = (tuple(_floats(payload[k], n).tolist()) for k in ("score", "accuracy"))
    probability = _floats(payload["probability"], n, n)
    agreement = _agreement(payload["agreement"], measures)
    return NetRanking(
        names=names,
        score=score,
        probability=probability,
        values=values,
        agreement=agreement,
        accuracy=accuracy,
        notes=_notes(payload["notes"]),
        sheets=_sheets(payload),
    )


def _agreement(held: Any, measures: list[str]) -> dict[tuple[str, str], float]:
    if isinstance(held, Mapping):  # what `to_dict` writes
        pairs = [(a, b) for i, a in enumerate(measures) for b in measures[:i] + measures[i + 1 :]]
        return {pair: _number(held[text]) for pair in pairs if (text := " vs ".join(pair)) in held}
    return {(str(one["measure"]), str(one["other"])): _number(one["tau"]) for one in held}


def _line(held: Mapping[str, Any]) -> BenchLine:
    texts: dict[str, Callable[[Any], Any]] = {"measure": str, "worst": str, "control": bool}
    there = [f.name for f in dataclasses.fields(BenchLine) if f.name in held or f.default is dataclasses.MISSING]
    return BenchLine(**{name: texts.get(name, _number)(held[name]) for name in there})


def _table(payload: Mapping[str, Any]) -> tuple[Floats, dict[str, Floats], dict[str, list[Any]]]:
    """Return gaps, values and hyper-parameters of the networks; empty if only `to_dict()` was kept."""
    n = len(payload.get("gap", ()))
    gap = _floats(payload.get("gap", []), n)
    values = {str(name): _column(column, n) for name, column in payload.get("values", {}).items()}
    axes = {str(name): list(column) for name, column in payload.get("axes", {}).items()}
    if any(len(column) != n for column in axes.values()):
        raise InputError(f"the record does not hold every hyper-parameter of its {n} networks.")
    return gap, values, axes


def _bench(payload: Mapping[str, Any]) -> Bench:
    gap, values, axes = _table(payload)
    seeds = np.array([int(v) for v in payload.get("seeds", [])], dtype=int)
    left_out = {str(k): str(v) for k, v in payload["left_out"].items()}
    return Bench(
        zoo=str(payload["zoo"]),
        lines=tuple(map(_line, payload["lines"])),
        noise_floor=float(_floats([payload["noise_floor"]], 1)[0]),
        gap=gap,
        values=values,
        axes=axes,
        seeds=seeds,
        left_out=left_out,
        notes=_notes(payload["notes"]),
        sheets=_sheets(payload),
    )


def _score(held: Mapping[str, Any]) -> Score:
    by_set = {tuple(map(str, one["fixed"])): _number(one["score"]) for one in held["by_set"]}
    if not any(value == value for value in by_set.values()):
        raise InputError("the score has no set of hyper-parameters.")
    return Score(
        value=float(_floats([held["value"]], 1)[0]),
        by_set=by_set,
        by_seed=tuple(map(_number, held["by_seed"])),
        interval=_interval(held["interval"]),
        n_networks=int(held["n_networks"]),
        sizes=tuple(int(k) for k in held["sizes"]),
        self_pairs=bool(held["self_pairs"]),
        ties=str(held["ties"]),
        notes=_notes(held["notes"]),
    )


def _floor(held: Mapping[str, Any]) -> NoiseFloor:
    mean, quantile, p = _floats([held[name] for name in ("mean", "quantile", "p_value")], 3).tolist()
    return NoiseFloor(
        mean=mean, quantile=quantile, p_value=p, n_permutations=int(held["n_permutations"]), scores=np.empty(0)
    )


def _scores(payload: Mapping[str, Any]) -> MeasureScores:
    held = payload["measures"]
    if not held:
        raise InputError("the record scores no measure.")
    scores = {str(one["measure"]): _score(one) for one in held}
    floors = {str(one["measure"]): _floor(one["noise_floor"]) for one in held}
    known = [one for one in held if one.get("adjusted_p_value") is not None]
    adjusted = {str(one["measure"]): _number(one["adjusted_p_value"]) for one in known}
    gap, values, axes = _table(payload)
    return MeasureScores(scores=scores, floors=floors, gap=gap, values=values, axes=axes, adjusted=adjusted)


def _estimate(payload: Mapping[str, Any]) -> NetEstimate:
    cls = CalibratedNetEstimate if "kappa" in payload else NetEstimate
    target = payload["target"]
    read: dict[str, Callable[[Any], Any]] = {
        "value": lambda v: float(_floats([v], 1)[0]),
        "std_error": _maybe,
        "interval": _interval,
        "df": _maybe,
        "notes": _notes,
        "mc_error": _maybe,
        "expected_rms": _maybe,
        "method": str,
        "loss": str,
        "space": str,
        "measure": str,
        "integration": str,
        "situation": str,
        "seconds": _number,
        "kappa": _number,
        "uncalibrated": _number,
        "calibration_error": _number,
        "n_units": int,
        "n_fits": int,
        "target": lambda v: Target(
            {"model": "model", "algorithm": "algorithm"}[target["kind"]], _maybe(target["n_train"])
        ),
    }
    arrays = ("contributions", "bandwidth", "curve", "deviations")
    read |= {name: lambda v: None if v is None else _array(v) for name in arrays}
    there = [f.name for f in dataclasses.fields(cls) if f.name in payload or f.default is dataclasses.MISSING]
    return cls(**{name: read.get(name, _scalar)(payload[name]) for name in there})


def _scalar(value: Any) -> Any:
    if not isinstance(value, (str, int, float, type(None))):
        raise TypeError(f"a {type(value).__name__} is neither a text nor a number")
    return value


KINDS: dict[str, Callable[[Any], Result]] = {
    "nets-rank": _ranking,
    "nets-bench": _bench,
    "nets-cmi": _scores,
    "nets-score": _score,
    "nets-estimate": _estimate,
    "nets-augmentations": _sheet,
}
