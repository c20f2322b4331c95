"""`unseen nets bench`: which measure of generalization can be trusted, on networks whose gaps are known."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from unseen.core.errors import InputError, MissingExtra
from unseen.nets.commands._flags import Device, ModuleName, State
from unseen.nets.commands._sources import DataOptions, import_function, read_names
from unseen.request.command_line import (
    Images,
    RunOptions,
    Without,
    command,
)

__all__: list[str] = []


@command("bench", group="nets")
def bench(
    *,
    zoo: Annotated[
        Path | None, typer.Option("--zoo", help="Folder of a zoo (Zoo.train), or of checkpoints on a grid of options.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="NPZ the zoo was trained on: X_train, y_train; or training data of the checkpoints."
        ),
    ] = None,
    test: Annotated[
        Path | None, typer.Option("--test", help="Test data of the checkpoints, read as --data is.")
    ] = None,
    module: ModuleName = None,
    state: State = None,
    examples: DataOptions,
    networks: Annotated[Path | None, typer.Option("--networks", help="Instead of a zoo: CSV of networks.")] = None,
    values: Annotated[
        Path | None, typer.Option("--values", help="CSV of measures: read, and added to if a zoo is given.")
    ] = None,
    measures: Annotated[str, typer.Option("--measures", help="Ids with commas, or all.")] = "all",
    permutations: Annotated[int, typer.Option("--permutations", min=1, help="Behind noise floor and p-values.")] = 200,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", help="Measure no longer than this.")] = None,
    device: Device = "auto",
    images: Images = True,
    run: Annotated[RunOptions, Without("jobs", "scheduler")],
) -> None:
    """Score measures of generalization on a zoo: CMI, rank agreement, noise floor, controls, seconds."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "torch", "unseen nets bench")
    run.check()
    from unseen import nets
    from unseen.nets.modules.device import device_of
    from unseen.nets.ranking.bench import bench_networks
    from unseen.nets.zoo.network_folder import class_numbers, is_zoo, read_zoo_data

    if zoo is not None and data is not None and not is_zoo(zoo):
        source = zoo.resolve().name
        if test is None:
            raise InputError("a bench of checkpoints needs --test, data that they were not trained on.")
        shown, held = examples.read(data), examples.read(test)
        found = nets.read_networks(
            zoo,
            shown,
            make=None if module is None else import_function(module),
            device=device_of(device),
            state=state,
            classes=examples.labels(shown),
            value_range=examples.ends(),
        )
        if any(one.code == "N011" for one in found.notes):
            raise InputError("these nets name a normalisation of their own; say it for both sets, as --mean and --std.")
        outputs = max(int(net.n_classes) for net in found.values())
        named = examples.labels(shown) or (None if shown.y.dtype.kind == "i" else shown.classes)
        result = bench_networks(
            found,
            held.X,
            class_numbers(held, outputs, named),
            "all" if measures == "all" else read_names(measures),
            path=values,
            name=source,
            random_state=run.seed,
            n_permutations=permutations,
            max_seconds=max_seconds,
            progress=run.progress,
        )
    elif zoo is not None and data is not None:
        source = zoo.resolve().name
        loaded = nets.Zoo.load(zoo, read_zoo_data(data))
        wanted = "all" if measures == "all" else read_names(measures)
        result = nets.bench(
            loaded,
            wanted,
            path=values,
            device=device_of(device),
            random_state=run.seed,
            n_permutations=permutations,
            max_seconds=max_seconds,
            images=images,
            progress=run.progress,
        )
    elif networks is not None and values is not None:
        source = networks.name
        result = nets.bench_of(networks, values, n_permutations=permutations)
    else:
        raise InputError("give a zoo with its data (--zoo and --data), or tables (--networks and --values).")
    run.emit(result)
    run.save(result, f"{result.zoo}, {source}")
    if max_seconds is not None and not result.complete:
        raise typer.Exit(3)
