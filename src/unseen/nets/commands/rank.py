"""`unseen nets rank`: which of these trained networks will generalize best, from their training data alone."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Annotated

import typer

from unseen.core.errors import MissingExtra
from unseen.nets.commands._flags import DataPath, Device, ModuleName, State
from unseen.nets.commands._sources import DataOptions, import_function, read_names, read_pairs
from unseen.request.command_line import (
    Images,
    RunOptions,
    Without,
    command,
)

__all__: list[str] = []

HELP = """Rank trained networks by expected test error, without a test set.

FOLDER holds the networks: files of weights as training left them (.pt, .pth, .ckpt, .safetensors), folders of Hugging Face, a zoo, or a
manifest.json that names them. --module imports your code and calls the function that makes the net; give only code you trust. Files with
pickled objects are not opened. What the function asks for comes from the data, the checkpoint, the file name or the shapes of the weights;
if that does not do, a manifest.json to complete is written into FOLDER.
"""


@command("rank", group="nets", help=HELP)
def rank(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder of checkpoints, or a zoo.")],
    data: DataPath,
    module: ModuleName = None,
    measures: Annotated[str | None, typer.Option("--measures", help="Ids with commas, or all.")] = None,
    only: Annotated[str, typer.Option("--only", help="Names of networks with commas; all by default.")] = "",
    state: State = None,
    examples: DataOptions,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=1, help="Take about so long: fewer examples, draws or measures, as a note says."),
    ] = None,
    part: Annotated[
        int | None,
        typer.Option("--examples", min=2, help="Measure on so many examples, drawn by class; all by default."),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(
            "--train",
            help="key=value, how the nets were trained, such as epochs=50: a copy on 80% of the data then shows how large gaps are.",
        ),
    ] = None,
    values: Annotated[
        Path | None,
        typer.Option(
            "--values", help="Keep the values of the measures here; without it only a stopped run leaves them."
        ),
    ] = None,
    accuracy: Annotated[float, typer.Option("--accuracy", help="Flag networks below this training accuracy.")] = 0.95,
    device: Device = "auto",
    images: Images = True,
    run: Annotated[RunOptions, Without("jobs", "scheduler")],
) -> None:
    """Read the networks and their data, and print the ranking."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "torch", "unseen nets rank")
    run.check(values)
    from unseen import nets
    from unseen.nets.modules.device import device_of
    from unseen.nets.zoo.network_folder import is_zoo

    make = None if module is None else import_function(module)
    where = device_of(device)
    if is_zoo(folder):
        found = nets.read_networks(folder, data, only=read_names(only), device=where)
    else:
        shown = examples.read(data)
        found = nets.read_networks(
            folder,
            shown,
            make=make,
            only=read_names(only),
            device=where,
            state=state,
            classes=examples.labels(shown),
            value_range=examples.ends(),
        )
    training = read_pairs("--train", train)
    if training:
        found = found.with_copies(training, random_state=run.seed, device=where, progress=run.progress)
    wanted = measures if measures is None or measures == "all" else read_names(measures)
    kept = values or _place_for_values(folder)
    result = nets.rank(
        found,
        measures=wanted,
        seconds=seconds,
        examples=part,
        path=kept,
        accuracy=accuracy,
        images=images,
        device=device,
        random_state=run.seed,
        progress=run.progress,
    )
    if values is None and kept is not None:
        kept.unlink(missing_ok=True)  # only a run that was stopped has something to go on from
    run.emit(result)
    run.save(result, f"{folder.resolve().name}, {data.name}")


def _place_for_values(folder: Path) -> Path | None:
    """Return the file beside the networks in which a stopped run leaves its values; None if none can be written there."""
    file = folder / "unseen_values.jsonl"
    return file if os.access(folder, os.W_OK) else None
