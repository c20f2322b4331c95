"""Run the calls and write their values: `python tests/golden/make_golden.py [--to FILE] [NAME ...]`.

Names given renew only these; without --to, the stored values beside this file are written.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from calls import CALLS, run_call

VALUES = Path(__file__).resolve().parent / "values.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=VALUES)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    values = json.loads(given.to.read_text()) if given.names and given.to.exists() else {}
    failed = []
    for name in given.names or CALLS:
        start = time.process_time()
        try:
            values[name] = run_call(name)
        except Exception as error:
            failed.append(name)
            print(f"{name} FAILED {type(error).__name__}: {error}", flush=True)
            continue
        print(f"{name} {time.process_time() - start:.2f} s, {len(json.dumps(values[name]))} bytes", flush=True)
    lines = [f"{json.dumps(name)}: {json.dumps(values[name])}" for name in CALLS if name in values]
    given.to.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
