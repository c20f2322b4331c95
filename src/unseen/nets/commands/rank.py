"""`unseen nets rank`: which of these trained networks will generalize best, from their training data alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from unseen.core.errors import MissingExtra
from unseen.nets.commands._flags import DataPath, Device, ModuleName, State
from unseen.nets.commands._sources import DataOptions, import_function, read_names
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
    accuracy: Annotated[float, typer.Option("--accuracy", help="Flag networks below this training accuracy.")] = 0.95,
    device: Device = "auto",
    images: Images = True,
    run: Annotated[RunOptions, Without("jobs", "scheduler")],
) -> None:
    """Read the networks and their data, and print the ranking."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "torch", "unseen nets rank")
    run.check()
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
    wanted = measures if measures is None or measures == "all" else read_names(measures)
    result = nets.rank(
        found,
        measures=wanted,
        accuracy=accuracy,
        images=images,
        device=device,
        random_state=run.seed,
        progress=run.progress,
    )
    run.emit(result)
    run.save(result, f"{folder.resolve().name}, {data.name}")
