"""Settings and rows of the Bayesian-network experiment: one line for every net, added to a file as it comes."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError, UnknownName

__all__ = [
    "COLUMNS",
    "PARTS",
    "SAMPLERS",
    "WORDS",
    "Setting",
    "append_row",
    "drop_cut_line",
    "finished_rows",
    "same_setting",
    "setting_of",
]

PARTS = ("synthetic", "lenet", "mlp")
SAMPLERS = ("sghmc", "sgld", "ensemble", "laplace")
WORDS = ("part", "sampler", "prior")
WHOLE = ("width", "n", "repetition")
COLUMNS = (
    "part", "sampler", "prior", "width", "n", "repetition", "true_error", "resub", "bayesian", "bayesian_bolster", "product_bolster",
    "nb_bolster", "test_doubt", "net_true_error", "net_resub", "net_posterior", "net_bayesian", "net_bayesian_bolster", "r_hat",
    "r_hat_limit", "ess", "seconds",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How posteriors are sampled and errors estimated; nothing of this is stated in the dissertation."""

    part: str = "synthetic"
    seed: int = 0
    sampler: str = "sghmc"
    prior: str = "unit"
    prior_scale: float = 1.0
    temperature: float = 1.0
    chains: int = 4
    n_samples: int = 100
    burn_in: int = 1000
    thin: int = 40
    step: float = 0.2
    friction: float = 0.05
    n_mc: int = 100
    nearest: str = "distinct"
    n_test: int = 5000
    epochs: int = 200

    def __post_init__(self) -> None:
        for name, known in (("part", PARTS), ("sampler", SAMPLERS)):
            if getattr(self, name) not in known:
                raise UnknownName(name, getattr(self, name), known)
        if self.n_samples < self.chains or self.chains < 1:
            raise InputError(f"{self.n_samples} samples cannot come from {self.chains} chains; give at least one each.")

    @property
    def starts(self) -> int:
        """Nets trained per repetition: one for every chain or member."""
        return {"ensemble": self.n_samples, "laplace": 1}.get(self.sampler, self.chains)


def setting_of(part: str, **chosen: Any) -> Setting:
    """Return the defaults of a part, changed as asked.

    MNIST nets have layers of 25 to 784 inputs. Weights of size 1 give the net of 512 units logits of some 2,000 before any data,
    and chains that diverge at this step; three over the root of the inputs gives logits of 2 to 4.
    """
    base = Setting(part=part)
    if part != "synthetic":
        base = replace(
            base,
            prior="fan-in",
            prior_scale=3.0,
            chains=2,
            n_samples=50,
            burn_in=500,
            thin=20,
            step=0.1,
            friction=0.02,
            n_mc=30,
            n_test=10_000,
        )
    return replace(base, **chosen)


def same_setting(row: dict[str, Any], setting: Setting) -> bool:
    return all(row[name] == getattr(setting, name) for name in WORDS)


def append_row(path: Path, row: dict[str, Any], setting: Setting) -> None:
    """Add a row to a results file, the first row of a setting behind a line that states it, and put it on the disk at once."""
    new = not path.exists() or path.stat().st_size == 0
    line = f"# {json.dumps(asdict(setting))}"
    stated = not new and any(text == line for text in path.read_text(encoding="utf-8").split("\n"))
    with path.open("a", newline="", encoding="utf-8") as file:
        if not stated:
            file.write(line + "\n")
        if new:
            file.write(",".join(COLUMNS) + "\n")
        file.write(",".join(_text(row[name]) for name in COLUMNS) + "\n")
        file.flush()
        os.fsync(file.fileno())


def drop_cut_line(path: Path) -> None:
    """Remove a last line without an end, left by a run that was killed while writing it."""
    if path.exists():
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            path.write_bytes(whole)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, (int, str)) else f"{value:.6g}"


def finished_rows(path: Path, setting: Setting | None = None) -> list[dict[str, Any]]:
    """Return the whole rows of a results file; one begun with other options for the same part, sampler and prior is refused."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # what follows the last line end was cut short
    for stated in (json.loads(line[1:]) for line in lines if line.startswith("#")):
        if setting is not None and same_setting(stated, setting) and stated != asdict(setting):
            raise InputError(
                f"{str(path)!r} was begun with another setting, {stated}; give another file, or the same setting."
            )
    table = csv.DictReader(line for line in lines if not line.startswith("#"))
    rows = [row for row in table if all(row.get(name) not in (None, "") for name in COLUMNS)]
    return [{k: v if k in WORDS else int(v) if k in WHOLE else float(v) for k, v in row.items()} for row in rows]
