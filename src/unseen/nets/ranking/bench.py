"""A bench of measures of generalization: one table per zoo, with noise floors and controls; a stopped run can go on."""

from __future__ import annotations

import csv
import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError, KindError, UnseenError
from unseen.core.notes import Note, merge_notes, note
from unseen.core.writing import written_whole
from unseen.engine.events import reporting
from unseen.engine.interrupts import name_file_on_interrupt
from unseen.nets.augmentation.sheet import sheets_for
from unseen.nets.measures.measure import Measure, build_measures
from unseen.nets.modules.device import device_of, limited_torch
from unseen.nets.modules.net import Net
from unseen.nets.ranking.bench_record import CONTROLS, NOT_MEASURED, Bench, BenchLine
from unseen.nets.ranking.cmi import FEW_NETWORKS, Score, cmi
from unseen.nets.ranking.grid import as_grid
from unseen.nets.ranking.noise_floor import NoiseFloor, adjusted_p_values
from unseen.nets.ranking.rank_scores import granulated_tau, kendall_tau, robust_error
from unseen.nets.zoo.network_folder import Networks
from unseen.nets.zoo.plan import without_failures
from unseen.nets.zoo.zoo import Zoo

__all__ = [
    "MeasureRow",
    "bench",
    "bench_controls",
    "bench_networks",
    "bench_of",
    "csv_rows",
    "measure_zoo",
    "read_number",
    "read_rows",
    "write_table",
]


LOG = logging.getLogger("unseen")
# columns of a table of networks that are no hyper-parameters
FIXED = (
    "zoo",
    "name",
    "seed",
    "epochs",
    "train_loss",
    "train_accuracy",
    "test_accuracy",
    "n_parameters",
    "reason",
    "holdout_error",
    "gap",
)
# columns that such a table must have
NEEDED = ("zoo", "name", "seed", "gap", "train_accuracy", "test_accuracy")


@limited_torch()
def bench(
    zoo: Zoo,
    measures: str | Iterable[str | Measure] = "all",
    *,
    path: str | PathLike[str] | None = None,
    draws: Mapping[str, int] | None = None,
    device: Any = "cpu",
    random_state: int = 0,
    n_permutations: int = 200,
    max_seconds: float | None = None,
    images: bool = True,
    progress: Any = None,
) -> Bench:
    """Score measures of generalization on a zoo whose gaps are known.

    Parameters
    ----------
    zoo : Zoo
        Loaded with its data. Values of hyper-parameters at which a network failed are left out first (`Zoo.complete`).
    measures : "all" or sequence of str or Measure
        What to compare; controls that need other networks (hyper-parameters alone, the other seed) are added.
    path : path, optional
        CSV of values, added to row by row: a stopped bench goes on where it was.
    draws, device, random_state, max_seconds, progress
        As in `measure_zoo`.
    n_permutations : int
        Behind noise floor and p-values.
    images : bool
        Show the first two training images, augmented, beside measures that augment images.

    Returns
    -------
    Bench

    References
    ----------
    Y. Jiang and others (2020). NeurIPS 2020 competition: predicting generalization in deep learning. arXiv:2012.07976.

    Examples
    --------
    >>> import tempfile
    >>> from unseen.nets import Zoo, ZooGrid, make_mlp
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 2
    >>> X = rng.normal(size=(300, 20)) + 0.6 * y[:, None]
    >>> grid = ZooGrid("toy", make_mlp, {"width": (4, 32), "depth": (1, 2), "weight_decay": (0.0, 0.03)}, epochs=30, accuracy=0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     zoo = Zoo.train(grid, (X[:40], y[:40], X[40:], y[40:]), store=folder, seeds=1, copies=False, device="cpu")
    ...     found = bench(zoo, ["path-norm", "random-order"], n_permutations=20)
    >>> [line.measure for line in found.lines if not line.control]
    ['path-norm']
    """
    if not isinstance(zoo, Zoo):
        raise KindError(f"zoo is a {type(zoo).__name__}; give a Zoo, or score tables of networks by `bench_of`.")
    if zoo.nets and not np.isfinite(zoo.gap).any():
        raise InputError("the gaps of this zoo are not known: it was trained without X_test and y_test.")
    full, n_test = zoo.complete(), 10_000 if zoo.data is None else len(zoo.data.y_test)
    wanted = build_measures(measures)
    if len(full) > 1:  # before the networks are measured, which may take hours
        _score_random(full.gap, full.axes, full.seeds, [n.text for n in full.notes if n.code == "N004"])
    rows = measure_zoo(
        full,
        wanted,
        path=path,
        draws=draws,
        device=device,
        random_state=random_state,
        max_seconds=max_seconds,
        progress=progress,
    )
    ids = {m.id for m in wanted}
    used = [row for row in rows if row.measure in ids]
    found = bench_of(full.rows(), used, n_permutations=n_permutations, accuracy=0.0, n_test=n_test)
    data, scored = full.data, [m for m in wanted if m.id in found.values]
    sheets = (
        sheets_for((c for m in scored for c in m.sheets), data.X_train, data.value_range)
        if images and data is not None
        else ()
    )
    late = [m.id for m in wanted if m.id not in found.values and m.id not in found.left_out]
    never = {name: f"{len(full)} of {len(full)} networks: {NOT_MEASURED}" for name in late}
    begun = (note("N007", ", ".join(late)),) if late else ()
    return replace(
        found, left_out={**found.left_out, **never}, notes=merge_notes(full.notes, found.notes, begun), sheets=sheets
    )


@limited_torch()
def bench_networks(
    networks: Networks,
    X_test: Any,
    y_test: Any,
    measures: str | Iterable[str | Measure] = "all",
    *,
    path: str | PathLike[str] | None = None,
    name: str = "networks",
    random_state: int = 0,
    n_permutations: int = 200,
    max_seconds: float | None = None,
    progress: Any = None,
) -> Bench:
    """Score measures of generalization on networks of your own, as `read_networks` found them, with a test set.

    Parameters
    ----------
    networks : Networks
        On a full grid of options: every combination once, or once per `seed` if that is an option.
    X_test, y_test : array-like
        Inputs, prepared as the training inputs are, and class numbers.
    measures : "all" or sequence of str or Measure
        What to compare.
    path : path, optional
        CSV of values, added to row by row: a stopped bench goes on where it was.
    name : str
        What the networks are called in the result.
    random_state, n_permutations, max_seconds, progress
        As in `bench`.

    Returns
    -------
    Bench
    """
    rows = []
    for label, net in networks.items():
        test = Net.of(net.module, X_test, y_test, device=net.device, value_range=net.value_range)
        train, right = net.training_accuracy(), test.training_accuracy()
        options = {key: value for key, value in networks.options.get(label, {}).items() if key != "seed"}
        fixed = {"zoo": name, "name": label, "seed": int(networks.options.get(label, {}).get("seed", 0))}
        rows.append({**fixed, "train_accuracy": train, "test_accuracy": right, "gap": train - right, **options})
    asked = sorted({key for row in rows for key in row if key not in FIXED})
    rows = [{**row, **{key: row.get(key, "default") for key in asked}} for row in rows]
    axes = {key: [row[key] for row in rows] for key in asked if len({row[key] for row in rows}) > 1}
    gap, seeds = np.array([row["gap"] for row in rows]), np.array([row["seed"] for row in rows])
    if not axes:
        raise InputError(
            "the networks do not differ in their options; a bench needs a grid of them. To order checkpoints, rank them."
        )
    _score_random(gap, axes, seeds, [])  # before the networks are measured, which may take hours
    wanted, started = build_measures(measures), time.perf_counter()
    values = _read_unfinished(Path(path)) if path is not None and Path(path).exists() else []
    done = {(row.seed, row.net, row.measure) for row in values}
    left = [(m, row) for m in wanted for row in rows if (row["seed"], row["name"], m.id) not in done]
    with name_file_on_interrupt(path), reporting(progress, len(left), "measures") as reporter:
        for measure, row in left:
            if max_seconds is not None and time.perf_counter() - started > max_seconds:
                LOG.warning("measuring stopped after %.0f s", max_seconds)
                break
            reporter.expect(0, f"{measure.id}, {row['name']}")
            found = _measure_row(name, row["seed"], row["name"], networks[row["name"]], measure, None, random_state)
            values.append(found)
            if path is not None:
                _append(Path(path), found)
            reporter.advance(1)
    ids = {m.id for m in wanted}
    used = [row for row in values if row.measure in ids]
    scored = bench_of(rows, used, n_permutations=n_permutations, accuracy=0.0, n_test=len(y_test))
    return replace(scored, notes=merge_notes(networks.notes, scored.notes))


def bench_of(
    networks: str | PathLike[str] | Sequence[Mapping[str, Any]],
    measures: str | PathLike[str] | Sequence[MeasureRow],
    *,
    n_permutations: int = 200,
    accuracy: float = 0.95,
    n_test: int = 10_000,
) -> Bench:
    """Score measures from tables alone: of networks (one row each) and of values.

    Parameters
    ----------
    networks : path or rows
        As `Zoo.rows()` gives them: name, seed, gap, and the hyper-parameters in the columns after `gap`.
    measures : path or rows
        As `measure_zoo` writes them.
    n_permutations : int
        Behind noise floor and p-values.
    accuracy : float
        Networks below this training accuracy fail their cell; values are left out so that the grid stays full.
    n_test : int
        Test images behind the gaps; pairs of networks closer than their sampling error do not count in the robust error.

    Returns
    -------
    Bench
    """
    nets = _read_networks(networks) if isinstance(networks, (str, PathLike)) else [dict(row) for row in networks]
    rows = read_rows(measures) if isinstance(measures, (str, PathLike)) else list(measures)
    if len(nets) < 2:
        count = "is 1 network" if len(nets) == 1 else "are no networks"
        raise InputError(f"there {count}; a bench needs a whole grid.")
    if not rows and isinstance(measures, (str, PathLike)):
        raise InputError(f"the table of measures {str(measures)!r} holds no value of any measure.")
    names = [name for name in nets[0] if name not in FIXED]
    failed = [not float(net["train_accuracy"]) >= accuracy for net in nets]
    kept, dropped = without_failures(nets, failed, names, accuracy, [net["seed"] for net in nets])
    nets = [nets[k] for k in kept]
    axes = {name: [net[name] for net in nets] for name in names}
    axes = {name: column for name, column in axes.items() if len(set(column)) > 1}
    gap, seeds = np.array([float(net["gap"]) for net in nets]), np.array([int(net["seed"]) for net in nets])
    floor = _score_random(gap, axes, seeds, dropped).noise_floor(n_permutations)
    values, costs, errors, left_out = _columns(nets, rows)
    values = {**values, **bench_controls(gap, seeds, axes)}
    error = _gap_error(nets, n_test)
    found = [
        _line(name, column, gap, axes, seeds, costs.get(name, 0.0), errors.get(name, 0.0), error, n_permutations)
        for name, column in values.items()
    ]
    lines = sorted(_with_adjusted_p_values(found), key=lambda line: -line.cmi)
    return Bench(
        zoo=str(nets[0]["zoo"]),
        lines=tuple(lines),
        noise_floor=100 * floor.quantile,
        gap=gap,
        values=values,
        axes=axes,
        seeds=seeds,
        left_out=left_out,
        notes=_notes(gap, seeds, dropped, [name for name in left_out if name not in values]),
    )


def _score_random(gap: np.ndarray, axes: dict[str, list[Any]], seeds: np.ndarray, dropped: Sequence[str]) -> Score:
    """Score a random measure; if the grid cannot be scored at all, the error says what was left out of it."""
    try:
        return cmi(gap, np.random.default_rng(0).random(len(gap)), axes, seeds=seeds, n_bootstrap=2)
    except InputError as error:
        if not dropped:
            raise
        raise InputError(
            f"what is left of the grid cannot be scored: {error} Left out so that the grid stays full: {'; '.join(dropped)}."
        ) from error


def _read_networks(path: str | PathLike[str]) -> list[dict[str, Any]]:
    rows = csv_rows(path, NEEDED, "networks")
    for k, row in enumerate(rows, 2):
        place = f"line {k} of {str(path)!r}"
        if None in row or None in row.values():
            raise InputError(f"{place} has not as many fields as there are columns.")
        numbers = {column: read_number(row, column, place) for column in NEEDED[2:]}
        if not math.isfinite(numbers["gap"]) or not numbers["seed"].is_integer():
            raise InputError(
                f"{place}: gap is {row['gap']!r} and seed {row['seed']!r}; a number and a whole number are needed."
            )
    return rows


def _columns(
    nets: Sequence[Mapping[str, Any]], rows: Sequence[MeasureRow]
) -> tuple[dict[str, np.ndarray], dict[str, float], dict[str, float], dict[str, str]]:
    """Return columns of values, median seconds and standard errors, and why others are left out.

    A measure that was not taken on any network of some seeds is scored on the other seeds; its values there are NaN.
    """
    names = list(dict.fromkeys(row.measure for row in rows))
    table = {(row.measure, row.seed, row.net): row for row in rows}
    values, costs, errors, left_out = {}, {}, {}, {}
    for name in names:
        found = [table.get((name, int(net["seed"]), str(net["name"]))) for net in nets]
        there = {row.seed for row in found if row is not None and math.isfinite(row.value)}
        asked = [row for row, net in zip(found, nets) if int(net["seed"]) in there]
        bad = [row for row in found if row is None or not math.isfinite(row.value)]
        if bad:
            reason = next((row.reason for row in bad if row is not None and row.reason), NOT_MEASURED)
            left_out[name] = f"{len(bad)} of {len(nets)} networks: {reason}"
            if not asked or any(row is None or not math.isfinite(row.value) for row in asked):
                continue
            left_out[name] += f"; scored on seed {', '.join(map(str, sorted(there)))} alone"
        kept = [row for row in asked if row is not None]
        values[name] = np.array([math.nan if row is None else row.value for row in found])
        costs[name] = float(np.median([row.seconds for row in kept]))
        known = [row.std_error for row in kept if not math.isnan(row.std_error)]  # one draw has no error
        errors[name] = float(np.median(known)) if known else 0.0
    return values, costs, errors, left_out


def _line(
    name: str,
    column: np.ndarray,
    gap: np.ndarray,
    axes: dict[str, list[Any]],
    seeds: np.ndarray,
    seconds: float,
    error: float,
    gap_error: float,
    n_permutations: int,
) -> tuple[BenchLine, NoiseFloor]:
    own = np.isfinite(column)
    if not own.all():
        gap, column, seeds = gap[own], column[own], seeds[own]
        axes = {axis: [value for value, kept in zip(values, own) if kept] for axis, values in axes.items()}
    score = cmi(gap, column, axes, seeds=seeds, n_bootstrap=2)
    honest = cmi(gap, column, axes, seeds=seeds, self_pairs=False, n_bootstrap=2)
    worst = robust_error(gap, column, axes, seeds=seeds, min_difference=2 * math.sqrt(2) * gap_error)
    taus = [kendall_tau(gap[seeds == s], column[seeds == s]) for s in np.unique(seeds)]
    tau = float(np.mean(np.nan_to_num(taus)))  # a measure that is constant orders nothing
    floor = score.noise_floor(n_permutations)
    return BenchLine(
        measure=name,
        control=name in CONTROLS,
        cmi=100 * score.value,
        cmi_low=100 * min(score.by_seed),
        cmi_high=100 * max(score.by_seed),
        cmi_honest=100 * honest.value,
        p_value=floor.p_value,
        tau=tau,
        granulated_tau=granulated_tau(gap, column, axes, seeds=seeds).value,
        robust_error=worst.value,
        worst=worst.worst,
        seconds=seconds,
        std_error=error,
    ), floor


def _with_adjusted_p_values(found: Sequence[tuple[BenchLine, NoiseFloor]]) -> list[BenchLine]:
    """Return lines with p-values adjusted for looking at all measures; a control is looked at by itself."""
    measures = {line.measure: line.cmi / 100 for line, _ in found if not line.control}
    adjusted = adjusted_p_values(measures, {line.measure: floor for line, floor in found})
    return [replace(line, adjusted=adjusted.get(line.measure, line.p_value)) for line, _ in found]


def _gap_error(nets: Sequence[Mapping[str, Any]], n_test: int) -> float:
    """Return half the usual binomial error of a test accuracy: networks share their test images, so differences are steadier."""
    accuracy = np.array([float(net["test_accuracy"]) for net in nets])
    return float(0.5 * np.sqrt(np.mean(accuracy * (1 - accuracy)) / n_test))


def _notes(gap: np.ndarray, seeds: np.ndarray, dropped: Sequence[str], left_out: Sequence[str]) -> tuple[Note, ...]:
    found = [note("N004", "; ".join(dropped))] if dropped else []
    per_seed = len(gap) // len(np.unique(seeds))
    if per_seed < FEW_NETWORKS:
        found.append(note("N002", f"{per_seed} networks per seed; compare with the noise floor"))
    if gap.std() < 0.02:
        found.append(note("N003", f"the gaps' standard deviation is {gap.std():.3g}"))
    if left_out:
        found.append(note("N007", ", ".join(left_out)))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class MeasureRow:
    """One measure of one network; `value` is NaN if it does not apply, for the `reason` given."""

    zoo: str
    seed: int
    net: str
    measure: str
    value: float
    std_error: float
    draws: int
    seconds: float
    reason: str = ""


@limited_torch()
def measure_zoo(
    zoo: Zoo,
    measures: str | Iterable[str | Measure] = "all",
    *,
    path: str | PathLike[str] | None = None,
    nets: Sequence[int] | None = None,
    draws: Mapping[str, int] | None = None,
    device: Any = "cpu",
    random_state: int = 0,
    max_seconds: float | None = None,
    progress: Any = None,
) -> list[MeasureRow]:
    """Measure the networks of a zoo, measure by measure, each row written when it is there.

    Parameters
    ----------
    zoo : Zoo
        Loaded with its data.
    measures : "all" or sequence of str or Measure
        Which, in the order they are taken.
    path : path, optional
        CSV file to add to; rows it holds already are not computed again.
    nets : sequence of int, optional
        Positions of networks; all by default.
    draws : mapping of str to int, optional
        Draws of single measures.
    device : str
        Where to compute.
    random_state : int
        Seed of all draws; every network meets the same draws.
    max_seconds : float, optional
        Begin no further measure after so long.
    progress : bool, optional
        Progress bar on stderr; by default if that is a terminal.

    Returns
    -------
    list of MeasureRow
        Those of the file and the new ones.
    """
    wanted, started = build_measures(measures), time.perf_counter()
    if zoo.data is not None:
        zoo = replace(zoo, data=zoo.data.to(device_of(device)))  # once, so that all networks share one tensor
    rows = _read_unfinished(Path(path)) if path is not None and Path(path).exists() else []
    done = {(row.seed, row.net, row.measure) for row in rows}
    loaded: dict[int, Net] = {}
    # one measure on all networks first: a run that is stopped leaves whole columns
    every = [(m, k) for m in wanted for k in (range(len(zoo)) if nets is None else nets)]
    left = [(m, k) for m, k in every if (zoo.nets[k].seed, zoo.nets[k].name, m.id) not in done]
    with name_file_on_interrupt(path), reporting(progress, len(left), "measures") as reporter:
        for measure, k in left:
            if max_seconds is not None and time.perf_counter() - started > max_seconds:
                LOG.warning("measuring stopped after %.0f s", max_seconds)
                return rows
            if k not in loaded:
                loaded[k] = zoo.net(k, device)
            one = zoo.nets[k]
            row = _measure_row(
                zoo.grid.id, one.seed, one.name, loaded[k], measure, (draws or {}).get(measure.id), random_state
            )
            rows.append(row)
            if path is not None:
                _append(Path(path), row)
            reporter.advance(1)
    return rows


def _measure_row(
    zoo: str, seed: int, name: str, net: Net, measure: Measure, draws: int | None, random_state: int
) -> MeasureRow:
    begun = time.perf_counter()
    place: dict[str, Any] = {"zoo": zoo, "seed": seed, "net": name, "measure": measure.id}
    try:
        found = measure(net, draws=draws, random_state=random_state)
    except UnseenError as error:
        seconds = time.perf_counter() - begun
        return MeasureRow(**place, value=math.nan, std_error=math.nan, draws=0, seconds=seconds, reason=str(error))
    spread = math.nan if found.std_error is None else found.std_error
    return MeasureRow(**place, value=found.value, std_error=spread, draws=found.draws, seconds=found.seconds)


def _read_unfinished(path: Path) -> list[MeasureRow]:
    """Read a file and write it again without a line that was cut off, so that the next row starts on a line of its own."""
    if not path.is_file():  # a device such as /dev/full can be read without end
        raise InputError(f"{str(path)!r} is no file that values could be kept in; name a new one.")
    rows = read_rows(path)
    if rows:
        write_table(path, [_row_to_dict(row) for row in rows])
    elif len(path.read_text().splitlines()) > 2:
        raise InputError(
            f"no line of {str(path)!r} holds a value of a measure; name a new file, or one that a bench wrote."
        )
    else:
        path.unlink()
    return rows


def _row_to_dict(row: MeasureRow) -> dict[str, Any]:
    return {k: f"{v:.9g}" if isinstance(v, float) else v for k, v in asdict(row).items()}


def _append(path: Path, row: MeasureRow) -> None:
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(MeasureRow)])
        if fresh:
            writer.writeheader()
        writer.writerow(_row_to_dict(row))


def read_rows(path: str | PathLike[str]) -> list[MeasureRow]:
    """Read rows of measures; a last line that was cut off is left out."""
    if Path(path).is_file() and not Path(path).stat().st_size:
        return []  # a run that was stopped before its first row
    rows = []
    for line in csv_rows(path, [f.name for f in fields(MeasureRow)], "measures"):
        try:
            row = MeasureRow(
                zoo=line["zoo"],
                seed=int(line["seed"]),
                net=line["net"],
                measure=line["measure"],
                value=float(line["value"]),
                std_error=float(line["std_error"]),
                draws=int(line["draws"]),
                seconds=float(line["seconds"]),
                reason=line["reason"] or "",
            )
            rows.append(row)
        except (TypeError, ValueError):
            continue
    return rows


def write_table(path: str | PathLike[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV, the columns those of the first row; the file under its own name is always whole."""
    target = Path(path)
    with written_whole(target) as partial, partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def bench_controls(gap: np.ndarray, seeds: np.ndarray, axes: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    """Return controls that know other networks' gaps: what hyper-parameters alone predict, and what the other seed says."""
    found = {"hyper-parameters": _ridge(gap, axes)}
    if len(np.unique(seeds)) > 1:
        made = as_grid(axes, len(gap), seeds)
        cell = made.code_of(range(len(made.names)))
        found["other-seed"] = np.array([gap[(cell == cell[k]) & (seeds != seeds[k])].mean() for k in range(len(gap))])
    return found


def _ridge(gap: np.ndarray, axes: dict[str, list[Any]], penalty: float = 1.0) -> np.ndarray:
    """Predict each cell's gap from the main effects of the hyper-parameters, fitted to all other cells."""
    blocks = [
        np.eye(len(set(column)))[np.unique([str(v) for v in column], return_inverse=True)[1]]
        for column in axes.values()
    ]
    design = np.concatenate(blocks, axis=1)
    cell = np.unique(design, axis=0, return_inverse=True)[1].ravel()
    out = np.empty(len(gap))
    for c in np.unique(cell):
        own = cell == c
        X, mean = design[~own], gap[~own].mean()
        beta = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ (gap[~own] - mean))
        out[own] = mean + design[own] @ beta
    return out


def csv_rows(path: str | PathLike[str], needed: Sequence[str], what: str) -> list[dict[str, str]]:
    """Return the rows of a file, refusing one that cannot be read or lacks a column.

    Parameters
    ----------
    path : path
        CSV file with a line of column names.
    needed : sequence of str
        Columns that must be there.
    what : str
        What the file is a table of, for the message.
    """
    name = str(path)
    if Path(path).is_char_device():  # /dev/full can be read without end
        raise InputError(f"{name!r} is a device, no file; name a table of {what}.")
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = list(reader.fieldnames or [])
            rows = list(reader)
    except OSError as error:
        raise InputError(f"cannot read the table of {what} {name!r}: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{name!r} is no CSV file, which a table of {what} must be.") from error
    absent = [column for column in needed if column not in columns]
    if absent and not columns:
        raise InputError(f"the table of {what} {name!r} is empty; its columns are {', '.join(needed)}.")
    if absent:
        raise InputError(
            f"the table of {what} {name!r} has no column {', '.join(absent)}; it has {', '.join(columns)}."
        )
    return rows


def read_number(row: dict[str, str], column: str, place: str) -> float:
    """Return the number in a column of a row, or raise if it is not one.

    Examples
    --------
    >>> read_number({"gap": "much"}, "gap", "line 2 of 'networks.csv'")
    Traceback (most recent call last):
    ...
    unseen.core.errors.InputError: line 2 of 'networks.csv': gap is 'much', not a number.
    """
    try:
        return float(row[column])
    except (TypeError, ValueError) as error:
        raise InputError(f"{place}: {column} is {row[column]!r}, not a number.") from error
