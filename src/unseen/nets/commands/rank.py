"""`unseen nets rank`: which of these trained networks will generalize best, from their training data alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from unseen.core.errors import MissingExtra
from unseen.nets.commands._flags import Device
from unseen.request.command_line import (
    Images,
    RunOptions,
    Without,
    command,
)

__all__: list[str] = []


@command("rank", group="nets")
def rank(
    *,
    zoo: Annotated[Path, typer.Option("--zoo", help="Folder with manifest.json and the networks' safetensors files.")],
    data: Annotated[Path, typer.Option("--data", help="Training data: NPZ with X and y, or a folder of images.")],
    measures: Annotated[str | None, typer.Option("--measures", help="Ids with commas, or all.")] = None,
    only: Annotated[str, typer.Option("--only", help="Names of networks with commas; all by default.")] = "",
    module: Annotated[
        str | None, typer.Option("--module", help="pkg.mod:function that makes the net; your code is imported and run.")
    ] = None,
    accuracy: Annotated[float, typer.Option("--accuracy", help="Flag networks below this training accuracy.")] = 0.95,
    device: Device = "auto",
    images: Images = True,
    run: Annotated[RunOptions, Without("jobs", "scheduler")],
) -> None:
    """Rank trained networks by expected generalization, without a test set: the smallest expected gap first."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "torch", "unseen nets rank")
    run.check()
    from unseen import nets
    from unseen.nets.commands.estimate import _function
    from unseen.nets.modules.device import device_of
    from unseen.nets.zoo.network_folder import read_networks

    make = None if module is None else _function(module)
    found = read_networks(zoo, data, make=make, only=_split(only), device=device_of(device))
    wanted = measures if measures is None or measures == "all" else _split(measures)
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
    run.save(result, f"{zoo.resolve().name}, {data.name}")


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
