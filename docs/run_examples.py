"""Runs every ```python block of the README and of the pages, file by file, in a temporary folder; the first error ends it."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
import traceback
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def run_file(path: Path) -> int:
    """Run the blocks of one file in one namespace and return how many there were."""
    text = path.read_text()
    namespace: dict = {"__name__": "__main__"}
    blocks = list(FENCE.finditer(text))
    for block in blocks:
        line = text[: block.start()].count("\n") + 2
        code = compile("\n" * (line - 1) + block.group(1), str(path), "exec")
        exec(code, namespace)
    return len(blocks)


def main() -> int:
    """Run the named files, or all."""
    shelves = ("guides", "reference", "validation", "decisions")
    pages = [page for shelf in shelves for page in sorted((ROOT / "docs" / shelf).glob("*.md"))]
    wanted = [Path(a).resolve() for a in sys.argv[1:]] or [ROOT / "README.md", ROOT / "docs" / "index.md", *pages]
    for path in wanted:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                count = run_file(path)
            except Exception:  # an example may fail in any way; it is shown
                traceback.print_exc()
                print(f"{path.relative_to(ROOT)}: an example failed", file=sys.stderr)
                return 1
            finally:
                os.chdir(ROOT)
        if count:
            print(f"{path.relative_to(ROOT)}: {count} examples, {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
