"""From the user's two tables to checked samples of each subject; what cannot be used is named by subject and row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError, KindError, UnknownName
from unseen.core.notes import Note, note
from unseen.kinetics.joint import FORMED, SampledCurves
from unseen.kinetics.scheme import Scheme

__all__ = ["Removal", "Subject", "columns_of", "read_study"]


UNITS = {"fraction": 1.0, "percent": 0.01}
TIME_UNITS = {"min": 1.0, "h": 60.0}
MIN_DOSED = 5  # samples: two exponentials have four parameters, and one degree of freedom is left
MIN_FORMED = 4  # samples: the formed curve has one parameter of its own, and its shape is compared between locations
_DOSES = ("dose_precursor", "dose_product")


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A sample that did not enter the fit, and why."""

    analyte: str
    time: float
    ttr: float
    reason: str
    row: int
    statistic: float | None = None
    limit: float | None = None


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Checked samples of one subject: times in minutes, TTR as fractions, doses and what was left out."""

    name: str
    curves: SampledCurves
    rows: np.ndarray
    doses: tuple[float, float]
    covariates: Mapping[str, Any]
    removed: tuple[Removal, ...] = ()
    notes: tuple[Note, ...] = ()


def read_study(
    ttr: Any,
    doses: Any,
    scheme: Scheme,
    *,
    unit: str = "fraction",
    time_unit: str = "min",
    drop_early: Mapping[str, float] | None = None,
    need_sd: bool = False,
) -> tuple[list[Subject], dict[str, str]]:
    """Check both tables and return the usable subjects, and the reason for each subject that is not.

    Parameters
    ----------
    ttr : table
        Columns subject, time, analyte, ttr, and optionally sd and exclude.
    doses : table
        Columns subject, dose_precursor, dose_product, and any covariates.
    scheme : Scheme
        Which analyte is which.
    unit : {"fraction", "percent"}
        Unit of ttr and sd.
    time_unit : {"min", "h"}
        Unit of time.
    drop_early : mapping, optional
        ``{analyte: minutes}``: samples of that analyte up to that time are left out.
    need_sd : bool
        Whether every sample needs a standard deviation.

    Returns
    -------
    subjects : list of Subject
    failures : dict
        ``{subject: reason}``.
    """
    for name, value, known in (("unit", unit, UNITS), ("time_unit", time_unit, TIME_UNITS)):
        if value not in known:
            raise UnknownName(name, value, known)
    samples = _check_columns(columns_of(ttr, "ttr"), ("subject", "time", "analyte", "ttr"), "ttr")
    given = _check_columns(columns_of(doses, "doses"), ("subject", *_DOSES), "doses")
    early = dict(drop_early or {})
    for analyte in early:
        if analyte not in scheme.analytes:
            raise UnknownName("analyte in drop_early", analyte, scheme.analytes)
    if not samples["subject"]:
        raise InputError("the ttr table has no rows.")
    reader = _Reader(
        samples=samples,
        scheme=scheme,
        factor=UNITS[unit],
        unit=unit,
        minutes=TIME_UNITS[time_unit],
        early=early,
        need_sd=need_sd,
    )
    dosing = _doses_by_subject(given)
    subjects, failures = [], {}
    for name in dict.fromkeys(map(_label, samples["subject"])):
        try:
            subjects.append(reader.subject(name, dosing))
        except InputError as error:
            failures[name] = str(error)
    return subjects, failures


def _label(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _check_columns(columns: dict[str, list[Any]], names: Iterable[str], what: str) -> dict[str, list[Any]]:
    missing = [n for n in names if n not in columns]
    if missing:
        raise InputError(
            f"the {what} table has no column {', '.join(map(repr, missing))}; it has {', '.join(columns) or 'none'}. "
            f"Needed: {', '.join(names)}."
        )
    return columns


def _doses_by_subject(columns: dict[str, list[Any]]) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    out: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for i, subject in enumerate(columns["subject"]):
        out.setdefault(_label(subject), []).append((i + 1, {k: v[i] for k, v in columns.items() if k != "subject"}))
    return out


def _number(value: Any, place: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        empty = value is None or value != value
        found = "missing" if empty else f"{value!r}, which is not a finite number"
        raise InputError(f"{place} is {found}; correct the cell or set exclude for the row.")
    return number


def _flag(value: Any, place: str) -> bool:
    text = str(value).strip().lower()
    if text in ("", "0", "0.0", "false", "no", "nan", "none", "<na>"):
        return False
    if text in ("1", "1.0", "true", "yes"):
        return True
    raise InputError(f"{place}: exclude is {value!r}; give true or false (or 1 or 0).")


@dataclass(frozen=True, kw_only=True)
class _TracerSample:
    """A sample that enters the fit: minutes, TTR as a fraction, which curve, standard deviation, row of the table."""

    time: float
    value: float
    which: int
    sd: float
    row: int


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Reads the rows of one subject at a time."""

    samples: dict[str, list[Any]]
    scheme: Scheme
    factor: float
    unit: str
    minutes: float
    early: Mapping[str, float]
    need_sd: bool

    def subject(self, name: str, dosing: dict[str, list[tuple[int, dict[str, Any]]]]) -> Subject:
        doses, covariates = self._doses(name, dosing)
        rows = [i for i, s in enumerate(self.samples["subject"]) if _label(s) == name]
        samples: list[_TracerSample] = []
        removed: list[Removal] = []
        unknown: set[str] = set()
        for i in rows:
            analyte = str(self.samples["analyte"][i]).strip()
            if analyte not in self.scheme.analytes:
                unknown.add(analyte)
                continue
            entry = self._sample(name, analyte, i)
            if isinstance(entry, Removal):
                removed.append(entry)
            else:
                samples.append(entry)
        self._check(name, samples, unknown)
        samples.sort(key=lambda s: (s.which, s.time))
        curves = SampledCurves(
            np.array([s.time for s in samples], float),
            np.array([s.value for s in samples], float),
            np.array([s.which for s in samples], int),
            np.array([s.sd for s in samples], float),
        )
        return Subject(
            name=name,
            curves=curves,
            rows=np.array([s.row for s in samples]),
            doses=doses,
            covariates=covariates,
            removed=tuple(removed),
            notes=self._notes(name, curves, unknown),
        )

    def _doses(self, name: str, dosing: Mapping[str, Any]) -> tuple[tuple[float, float], dict[str, Any]]:
        found = dosing.get(name, [])
        if len(found) != 1:
            many = f"{len(found)} rows (rows {', '.join(str(r) for r, _ in found)})" if found else "no row"
            raise InputError(f"subject {name}: {many} in the doses table; exactly one is needed.")
        row, record = found[0]
        values = []
        for column in _DOSES:
            place = f"subject {name}, doses row {row}: {column}"
            value = _number(record[column], place)
            if value <= 0:
                raise InputError(f"{place} is {value:g}; a dose must be above 0, in the unit of the pool sizes.")
            values.append(value)
        return (values[0], values[1]), {k: v for k, v in record.items() if k not in _DOSES}

    def _sample(self, name: str, analyte: str, i: int) -> Removal | _TracerSample:
        row = i + 1
        place = f"subject {name}, row {row} ({analyte})"
        raw_time, raw_ttr = self.samples["time"][i], self.samples["ttr"][i]
        if "exclude" in self.samples and _flag(self.samples["exclude"][i], place):
            return Removal(
                analyte=analyte,
                time=_float_or_nan(raw_time) * self.minutes,
                ttr=_float_or_nan(raw_ttr) * self.factor,
                reason="excluded by the user",
                row=row,
            )
        time = _number(raw_time, f"{place}: time") * self.minutes
        if time <= 0:
            raise InputError(
                f"{place}: time is {raw_time}; samples must be after the dose (time above 0). Leave baseline rows out."
            )
        ttr = _number(raw_ttr, f"{place}: ttr") * self.factor
        if self.unit == "fraction" and ttr > 1:
            raise InputError(
                f"{place}: ttr is {raw_ttr}, which looks like per cent; give unit='percent', or divide by 100 (a TTR above 1 "
                "would mean more tracer than tracee)."
            )
        sd = np.nan
        if self.need_sd:
            if "sd" not in self.samples:
                raise InputError("error='sd' needs a column sd in the ttr table.")
            sd = _number(self.samples["sd"][i], f"{place}: sd") * self.factor
            if sd <= 0:
                raise InputError(f"{place}: sd is {self.samples['sd'][i]}; a standard deviation must be above 0.")
        if time <= self.early.get(analyte, -np.inf):
            return Removal(
                analyte=analyte, time=time, ttr=ttr, reason=f"early sample (up to {self.early[analyte]:g} min)", row=row
            )
        return _TracerSample(time=time, value=ttr, which=self.scheme.analytes.index(analyte), sd=sd, row=row)

    def _check(self, name: str, samples: list[_TracerSample], unknown: set[str]) -> None:
        for code, analyte in enumerate(self.scheme.analytes):
            own = [s for s in samples if s.which == code]
            need = MIN_FORMED if code == FORMED else MIN_DOSED
            if not own:
                also = (
                    f"; the table has {', '.join(sorted(unknown))}, which the scheme does not name" if unknown else ""
                )
                raise InputError(
                    f"subject {name}: no usable sample of {analyte}{also}. All of {', '.join(self.scheme.analytes)} are needed."
                )
            if len(own) < need:
                rows = ", ".join(str(s.row) for s in own)
                raise InputError(
                    f"subject {name}: {len(own)} samples of {analyte} (rows {rows}); at least {need} are needed."
                )
            seen: dict[float, int] = {}
            for sample in own:
                time, row = sample.time, sample.row
                if time in seen:
                    raise InputError(
                        f"subject {name}, rows {seen[time]} and {row}: two samples of {analyte} at {time:g} min; average replicates or "
                        "set exclude for one."
                    )
                seen[time] = row
            if all(s.value <= 0 for s in own):
                what = "no product was formed that could be seen" if code == FORMED else "no tracer was seen"
                raise InputError(
                    f"subject {name}, rows {own[0].row} to {own[-1].row}: all TTR of {analyte} are 0 or below; {what}."
                )

    def _notes(self, name: str, curves: SampledCurves, unknown: set[str]) -> tuple[Note, ...]:
        out = []
        negative = int(np.sum(curves.value < 0))
        if negative:
            out.append(note("K002", f"subject {name}: {negative} TTR below zero after baseline correction"))
        if self.unit == "percent" and curves.value[curves.which != FORMED].max() * 100 < 1:
            out.append(note("K003", f"subject {name}: no dosed TTR reaches 1 per cent; the values may be fractions"))
        if unknown:
            out.append(
                note("K004", f"subject {name}: analytes not in the scheme were left out: {', '.join(sorted(unknown))}")
            )
        return tuple(out)


def _float_or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def columns_of(table: Any, what: str) -> dict[str, list[Any]]:
    """Columns of a CSV or Parquet file, a frame, or a mapping of columns, as plain lists.

    Parameters
    ----------
    table : path, pandas or polars frame, mapping
        The table.
    what : str
        What to call it in messages.

    Returns
    -------
    dict
        ``{column: values}``, in order.

    Examples
    --------
    >>> columns_of({"subject": ["a"], "time": [5]}, "ttr")
    {'subject': ['a'], 'time': [5]}
    """
    if isinstance(table, (str, PathLike)):
        table = _read_file(table, what)
    if hasattr(table, "columns") and not isinstance(table, Mapping):
        return {str(c): _as_list(table[c]) for c in table.columns}
    if isinstance(table, Mapping):
        columns = {str(k): _as_list(v) for k, v in table.items()}
        if len({len(v) for v in columns.values()}) > 1:
            raise InputError(f"the columns of the {what} table differ in length.")
        return columns
    raise KindError(f"the {what} table is a {type(table).__name__}; give a path, a data frame or a mapping of columns.")


def _as_list(column: Any) -> list[Any]:
    values = column.tolist() if hasattr(column, "tolist") else column
    return values.to_list() if hasattr(values, "to_list") else list(values)


def _read_file(path: str | PathLike[str], what: str) -> Any:
    from unseen.datasets.delimited import read_delimited
    from unseen.datasets.parquet import read_parquet
    from unseen.datasets.source import open_source

    if not Path(path).exists():
        raise InputError(f"the {what} file {str(path)!r} does not exist.")
    try:
        source = open_source(path)
        if source.kind == "parquet":
            return read_parquet(source)
        if source.kind == "delimited":
            return read_delimited(source, sep=None, decimal=None, as_text=("subject", "analyte"))
    except InputError as error:
        raise InputError(f"the {what} table: {error}") from error
    raise InputError(f"the {what} file {str(path)!r} is no table that can be read; give CSV, TSV or Parquet.")
