"""Writes `reference/notes.md` from the codes that checks, methods, kinetics and nets declare."""

from __future__ import annotations

from pathlib import Path

from unseen.checks.registry import CodedCheck
from unseen.core.notes import NoteKind, known_notes

PAGE = Path(__file__).parent / "reference" / "notes.md"

LEAD = """# Notes

<!-- Written by docs/make_notes.py from the codes in the package: change the texts there. -->

A note is a coded remark on statistical weakness. It travels with the result: in `result.notes`, in JSON and in the report.
Misuse raises an error instead. A note marked as an alarm changes the headline: the sentence begins "Do not trust this number",
`--json` has `"trust": false` with the reasons, and `--fail-if` fails. [What to do then](../guides/trust.md).
"""


def page() -> str:
    """Return the text of the page."""
    known = known_notes()
    checks = [kind for kind in known.values() if isinstance(kind, CodedCheck)]
    rest = [kind for kind in known.values() if not isinstance(kind, CodedCheck)]
    parts = [
        LEAD,
        "## Checks of data and runs\n\nEach stands in a file of its own in `unseen.checks`.\n",
        _table(
            ["code", "meaning", "given when", "what to do"], [[*_words(k)[:2], k.sentence, k.advice] for k in checks]
        ),
    ]
    for letter, title in (("U", "Notes of methods and designs"), ("N", "Notes on nets"), ("K", "Notes on kinetics")):
        rows = [_words(kind) for kind in rest if kind.code.startswith(letter)]
        parts += [f"## {title}\n", _table(["code", "meaning", "what to do"], rows)]
    return "\n".join(parts)


def _words(kind: NoteKind) -> list[str]:
    return [f"`{kind.code}`", kind.title + (" (alarm)" if kind.alarm else ""), kind.advice]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_notes() -> None:
    """Write the page unless it is up to date."""
    if PAGE.read_text() != page():
        PAGE.write_text(page())


if __name__ == "__main__":
    write_notes()
