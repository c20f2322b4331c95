"""`unseen nets`: the group of commands about deep nets; each lives in a file `_nets_NAME.py` beside this one."""

from __future__ import annotations

import importlib
import pkgutil

import typer

__all__ = ["attach"]


def attach(app: typer.Typer) -> None:
    """Add the group and every command found."""
    nets = typer.Typer(
        name="nets",
        help="Deep nets: error estimates, training progress, and which network will generalize.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    package = importlib.import_module("unseen.cli")
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        if module.startswith("_nets_"):
            importlib.import_module(f"unseen.cli.{module}").attach(nets)
    if nets.registered_commands:
        app.add_typer(nets, name="nets")
