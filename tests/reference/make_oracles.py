"""Runs every oracles_*.py beside this file with the peers' interpreter; each writes its own JSON with versions."""

from __future__ import annotations

import runpy
from pathlib import Path


def main() -> None:
    """Run them one after the other."""
    for path in sorted(Path(__file__).parent.glob("oracles_*.py")):
        print(path.name, flush=True)
        runpy.run_path(str(path), run_name="__main__")


if __name__ == "__main__":
    main()
