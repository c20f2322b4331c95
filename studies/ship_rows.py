"""Packs finished rows of a reproduction for the package: `python -m studies.ship_rows ghane_mnist.csv ghane_mnist`."""

from __future__ import annotations

import sys
from pathlib import Path

from unseen.core.columns import pack_columns

DECIMALS = 4  # errors of these runs are known to two or three; more only fill the wheel
# estimates by integration, whose Monte-Carlo error is in the second decimal
INTEGRATED = ("bolster", "posterior", "bolster_posterior", "bayesian", "bayesian_bolster", "product_bolster", "nb_bolster", "net_bayesian", "net_bayesian_bolster")  # fmt: skip
PACKAGE = Path(__file__).parents[1] / "src" / "unseen" / "reproduction"


def shorten(value: str, column: str) -> str:
    """Return a number with as many digits as it is known to; anything else as it is."""
    if "." not in value or "e" in value or not value.replace(".", "", 1).lstrip("-").isdigit():
        return value
    digits = {"seconds": ".2g", "ess": ".3g", "r_hat": ".4g", **dict.fromkeys(INTEGRATED, ".3f")}.get(column)
    short = f"{float(value):{digits}}" if digits else f"{float(value):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return min(short, value, key=len)


def shorten_rows(text: str) -> str:
    """Return rows of a CSV file with shortened numbers; comments and the header stay."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    names = lines[first].split(",")
    rows = [",".join(shorten(v, name) for v, name in zip(line.split(","), names)) for line in lines[first + 1 :]]
    return "\n".join([*lines[: first + 1], *rows]) + "\n"


def main(rows: str, experiment: str) -> None:
    """Write the rows of a CSV file where the experiment reads them."""
    short = shorten_rows(Path(rows).read_text(encoding="utf-8"))
    (PACKAGE / experiment / "columns.xz").write_bytes(pack_columns(short))


if __name__ == "__main__":
    main(*sys.argv[1:])
