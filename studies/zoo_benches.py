"""Benches of every zoo whose tables are there: what zoo_table.py prints and choose_net_measures.py chooses from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from unseen.core.errors import UnseenError
from unseen.nets import bench_of
from unseen.nets.ranking.bench_record import Bench
from unseen.nets.zoo.grids import GRIDS

HERE = Path(__file__).parent
ZOOS, DOCS = HERE / "zoo", HERE.parent / "docs"


def stored_zoos(folder: Path) -> list[str]:
    """Return the names of the zoos that have a table of networks."""
    return sorted(path.stem.removeprefix("networks_") for path in folder.glob("networks_*.csv"))


def stored_benches(
    folder: Path, zoos: Iterable[str] = (), n_permutations: int = 999
) -> tuple[dict[str, Bench], dict[str, str]]:
    """Return the bench of every zoo, and for zoos that cannot be scored the reason."""
    benches, left_out = {}, {}
    for zoo in list(zoos) or stored_zoos(folder):
        values = folder / f"measures_{zoo}.csv"
        if not values.exists():
            left_out[zoo] = f"there is no {values.name}"
            continue
        try:
            least = GRIDS[zoo].accuracy if zoo in GRIDS else 0.95
            benches[zoo] = bench_of(
                folder / f"networks_{zoo}.csv", values, n_permutations=n_permutations, accuracy=least
            )
        except (UnseenError, OSError) as error:
            left_out[zoo] = str(error)
    return benches, left_out
