"""Packs finished rows of a reproduction for the package: `python -m studies.ship_rows ghane_mnist.csv ghane_mnist`."""

from __future__ import annotations

import sys
from pathlib import Path

from unseen.reproduction.rows import pack_columns

PACKAGE = Path(__file__).parents[1] / "src" / "unseen" / "reproduction"


def main(rows: str, experiment: str) -> None:
    """Write the rows of a CSV file where the experiment reads them."""
    (PACKAGE / experiment / "columns.xz").write_bytes(pack_columns(Path(rows).read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(*sys.argv[1:])
