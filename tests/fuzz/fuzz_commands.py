"""Runs the commands on inputs made by grammar and changed once, and judges how each ended.

`python tests/fuzz/fuzz_commands.py --inputs 0-20000` runs so many; `--input 713` runs one and shows it; `--page FILE` writes the counts.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import faulthandler
import hashlib
import importlib.util
import io
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import typer.main
from command_grammar import GRAMMAR, LEFT_OUT, WHOLE_GRAMMAR, Input, is_number, make_pantry
from mutations import mutate

from unseen.cli import app
from unseen.models.files import sandbox

__all__ = [
    "GRAMMAR",
    "LEFT_OUT",
    "LIMIT",
    "WHOLE_GRAMMAR",
    "Outcome",
    "input_of",
    "make_outcomes",
    "pantry",
    "run_input",
    "valid_input",
]

LIMIT = 60  # seconds of computing that no input may take
PATIENCE = 300  # seconds on the clock: other programs may take most of the processor
DONE, REFUSED, NOT_WRITTEN = (0, 1, 3), 2, 74  # exit codes; 70 and 130 are faults here: nobody interrupts

# numbers whose squares are no numbers: arithmetic on them may overflow, and must end in an answer or a sentence all the same
LARGE, SMALL = 1e150, 1e-150


class Overdue(BaseException):
    """The time of an input is over; no `except Exception` of the package keeps it."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one input ended, and what is wrong with that."""

    number: int
    command: str
    mutation: str
    words: list[str]
    code: int
    seconds: float
    faults: list[str]
    said: str

    def __str__(self) -> str:
        again = f"python tests/fuzz/fuzz_commands.py --input {self.number}"
        faults = "; ".join(self.faults)
        return f"{again}  ({self.mutation}) unseen {shlex.join(self.words)}: exit code {self.code}: {faults}\n    {self.said[-700:]}"


def valid_input(number: int, seed: int = 0) -> tuple[Input, random.Random]:
    """Return input `number` before its change, and the generator that goes on from there."""
    draw = random.Random(f"{seed}/{number}")
    names = list(GRAMMAR)
    words = draw.choices(names, [GRAMMAR[name][0] for name in names])[0]
    return GRAMMAR[words][1](draw), draw


def input_of(number: int, seed: int = 0) -> Input:
    """Return input `number`, which follows from the seed and the number alone."""
    return mutate(*valid_input(number, seed))


def files_in(folder: Path) -> dict[str, str]:
    """Return every file of a folder with a hash of what it holds; SQLite's own files come and go."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(("-wal", "-shm")) and "__pycache__" not in path.parts:
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def is_extreme(made: Input) -> bool:
    """Say whether a cell or an option holds a number whose square is none."""
    cells = [c for table in made.tables.values() for _, column in table.columns for c in column] + made.line.words()
    sizes = [abs(float(c)) for c in cells if is_number(c)]
    return any(size > LARGE or 0 < size < SMALL for size in sizes)


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """Raise `Overdue` after so long; end the process where even that does not help."""

    def stop(signum: int, frame: Any) -> None:
        raise Overdue

    timers = {signal.SIGALRM: (signal.ITIMER_REAL, PATIENCE), signal.SIGPROF: (signal.ITIMER_PROF, LIMIT)}
    before = {number: signal.signal(number, stop) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    faulthandler.dump_traceback_later(2 * PATIENCE, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
        faulthandler.cancel_dump_traceback_later()


def call(words: list[str], folder: Path, extreme: bool = False) -> tuple[int, str, str]:
    """Run `unseen` in this process as the console script does; warnings are errors, but not of arithmetic on extreme numbers."""
    app._attach_commands()
    tree = _tree()
    out, err = io.StringIO(), io.StringIO()
    known, paths = set(sys.modules), list(sys.path)
    with (
        mock.patch.object(sys, "argv", ["unseen", *words]),
        mock.patch.dict(os.environ, {"UNSEEN_DEBUG": "1"}),
        mock.patch.object(typer.main, "get_command", return_value=tree),
        mock.patch.object(sandbox, "subprocess", _start_of_models())
        if words[:1] == ["resub"]
        else contextlib.nullcontext(),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        if extreme:
            warnings.simplefilter("ignore", RuntimeWarning)
        code: Any = 0
        try:
            app.main()
        except SystemExit as end:
            code = end.code
    sys.path[:] = paths
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
    return int(code or 0), out.getvalue(), err.getvalue()


@cache
def pantry() -> Path:
    """Return the folder of what is made once for all inputs."""
    folder = Path(tempfile.mkdtemp(prefix="unseen-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make_pantry(folder, call)
    return folder


@cache
def _start_of_models() -> Any:
    """Return what starts the process of a model file as a copy of one that has loaded the libraries, as the tests do."""
    spec = importlib.util.spec_from_file_location("conftest_of_tests", Path(__file__).parents[1] / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    shared = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = shared
    spec.loader.exec_module(shared)
    nursery = shared.Nursery()
    atexit.register(nursery.close)
    parts = {"PIPE": subprocess.PIPE, "TimeoutExpired": subprocess.TimeoutExpired}
    return SimpleNamespace(Popen=nursery.start, **parts)


@cache
def _tree() -> Any:
    """Build the tree of commands once: it takes longer than many an input."""
    return typer.main.get_command(app.app)


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _faults(code: int, out: str, err: str, words: list[str], left: set[str]) -> Iterator[str]:
    """Yield what is wrong with an end; what a command refuses it refuses in a sentence, and leaves nothing."""
    if code not in (*DONE, REFUSED, NOT_WRITTEN):
        yield f"exit code {code}"
    if "Traceback" in out + err:
        yield "a traceback"
    if code == NOT_WRITTEN and not any(word in ("/dev/full", "/proc/x") for word in words):
        yield "a result that could not be written"
    shown = "--help" in words or "--version" in words
    if code == REFUSED:
        if out:
            yield "a refusal that printed a result"
        if left:
            yield f"a refusal that left {sorted(left)}"
        if not err.strip():
            yield "a refusal without a sentence"
    if "--json" in words and not shown and code in (*DONE, REFUSED):
        text = err.strip().splitlines()[-1] if code == REFUSED and err.strip() else out
        try:
            json.loads(text, parse_constant=_no_constant)
        except ValueError as error:
            yield f"no JSON ({error})"


def run_input(made: Input, number: int, keep: Path | None = None) -> Outcome:
    """Write the files of an input into a folder of its own, run it there, and judge how it ended."""
    folder = keep or Path(tempfile.mkdtemp(prefix="unseen-fuzz-"))
    folder.mkdir(exist_ok=True)
    words = made.line.words()
    try:
        made.write(folder)
        for name in made.kept:
            held = pantry() / name
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy2(held, folder / name)
        before = files_in(folder)
        began = time.process_time()
        try:
            with time_limit():
                code, out, err = call(words, folder, is_extreme(made))
        except Overdue:
            code, out, err = -1, "", f"over {LIMIT} s"
        except BaseException as error:  # what escapes `main` is the fault that is looked for
            if isinstance(error, KeyboardInterrupt):
                raise
            code, out, err = -2, "", f"{type(error).__name__}: {error} escaped"
        seconds = time.process_time() - began
        after = files_in(folder)
        left = {name for name in after if before.get(name) != after[name]} | (set(before) - set(after))
        faults = list(_faults(code, out, err, words, left))
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    return Outcome(
        number=number,
        command=" ".join(made.line.command),
        mutation=made.mutation,
        words=words,
        code=code,
        seconds=seconds,
        faults=faults,
        said=err if keep is None else out + err,
    )


def make_outcomes(numbers: Iterable[int], seed: int = 0) -> Iterator[Outcome]:
    """Run inputs one after another."""
    pantry()
    for number in numbers:
        yield run_input(input_of(number, seed), number)


def page(counts: dict[str, Counter[str]], kinds: dict[str, Counter[str]], seconds: float) -> str:
    """Return the counts as Markdown."""
    total = sum((c["inputs"] for c in counts.values()), 0)
    past = sum((c["past"] for c in counts.values()), 0)
    faults = sum((c["faults"] for c in counts.values()), 0)
    lines = [
        f"{total:,} inputs, {past:,} past validation ({past / total:.0%}); {faults} faults; none computed for longer than {seconds:.1f} s.",
        "",
        "| command | inputs | past validation | refused in a sentence | faults |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, c in sorted(counts.items()):
        lines.append(f"| `{name}` | {c['inputs']:,} | {c['past']:,} | {c['refused']:,} | {c['faults']} |")
    lines += ["", "| what was changed | inputs | past validation |", "|---|---:|---:|"]
    lines += [f"| {name} | {c['inputs']:,} | {c['past']:,} |" for name, c in sorted(kinds.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the inputs asked for, print each fault, and say how many got how far."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", default="0-1000", help="numbers FIRST-LAST, the last one left out")
    parser.add_argument(
        "--input", type=int, help="one number: run it in ./fuzz-NUMBER, which is kept, and show how it ended"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--counts", type=Path, help="JSON file that counts are added to")
    parser.add_argument("--page", type=Path, help="write all counts of --counts as Markdown here")
    asked = parser.parse_args()
    if asked.input is not None:
        pantry()
        outcome = run_input(input_of(asked.input, asked.seed), asked.input, Path(f"fuzz-{asked.input}").resolve())
        print(f"{outcome}\n{outcome.said}")
        sys.exit(bool(outcome.faults))
    first, last = map(int, asked.inputs.split("-"))
    counts: dict[str, Counter[str]] = {}
    kinds: dict[str, Counter[str]] = {}
    slowest = 0.0
    if asked.counts and asked.counts.exists():
        held = json.loads(asked.counts.read_text())
        counts = {k: Counter(v) for k, v in held["commands"].items()}
        kinds = {k: Counter(v) for k, v in held["mutations"].items()}
        slowest = held["slowest"]
    for outcome in make_outcomes(range(first, last), asked.seed):
        slowest = max(slowest, outcome.seconds)
        for table, name in ((counts, outcome.command), (kinds, outcome.mutation)):
            c = table.setdefault(name, Counter())
            c["inputs"] += 1
            c["past"] += outcome.code in DONE
            c["refused"] += outcome.code == REFUSED
            c["faults"] += bool(outcome.faults)
        if outcome.faults:
            print(outcome, flush=True)
        elif outcome.seconds > 10:
            print(
                f"slow: {outcome.seconds:.0f} s: input {outcome.number}: unseen {shlex.join(outcome.words)}", flush=True
            )
    if asked.counts:
        asked.counts.write_text(json.dumps({"commands": counts, "mutations": kinds, "slowest": slowest}, indent=1))
    if asked.page:
        asked.page.write_text(page(counts, kinds, slowest))
    print(page(counts, kinds, slowest))


if __name__ == "__main__":
    main()
