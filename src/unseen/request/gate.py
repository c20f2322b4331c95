"""What a build server reads: checks that passed or failed, as JUnit XML and as a Markdown summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import typer

from unseen.core.controls import escape_controls
from unseen.core.errors import NotWritten
from unseen.core.writing import written_whole
from unseen.request.command_line import SharedOptions, check_writable

__all__ = ["GateCheck", "GateOptions", "junit_text", "summary_text"]


@dataclass(frozen=True, kw_only=True)
class GateCheck:
    """One condition of a build: what was asked, whether it holds, and the sentence that says why.

    Parameters
    ----------
    name : str
        What was asked, such as "error at most 0.1".
    passed : bool
        Whether it holds.
    sentence : str
        The answer behind it.
    """

    name: str
    passed: bool
    sentence: str


def junit_text(suite: str, checks: Sequence[GateCheck]) -> str:
    """Return JUnit XML: a suite with one case for each check.

    Examples
    --------
    >>> text = junit_text("iris.csv", [GateCheck(name="error at most 0.1", passed=False, sentence="The error is 0.2.")])
    >>> 'failures="1"' in text, "<failure" in text
    (True, True)
    """
    failed = sum(not one.passed for one in checks)
    root = Element("testsuites", name="unseen", tests=str(len(checks)), failures=str(failed), errors="0")
    node = SubElement(root, "testsuite", name=_clean(suite), tests=str(len(checks)), failures=str(failed), errors="0")
    for one in checks:
        case = SubElement(node, "testcase", classname="unseen", name=_clean(one.name))
        if one.passed:
            SubElement(case, "system-out").text = _clean(one.sentence)
        else:
            SubElement(case, "failure", message=_clean(one.sentence)).text = _clean(one.sentence)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def summary_text(suite: str, checks: Sequence[GateCheck], rows: Sequence[dict[str, Any]] = ()) -> str:
    """Return a Markdown summary: each check with its sentence, and a table.

    Examples
    --------
    >>> print(summary_text("iris.csv", [GateCheck(name="error at most 0.1", passed=True, sentence="The error is 0.04.")]))
    ### unseen: iris.csv
    <BLANKLINE>
    - **passed**: error at most 0.1. The error is 0.04.
    <BLANKLINE>
    """
    lines = [f"### unseen: {_cell(suite)}", ""]
    for one in checks:
        lines.append(f"- **{'passed' if one.passed else 'FAILED'}**: {_cell(one.name)}. {_cell(one.sentence)}")
    if rows:
        names = list(rows[0])
        lines += ["", f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
        lines += [f"| {' | '.join(_cell(row.get(name)) for name in names)} |" for row in rows]
    return "\n".join([*lines, ""])


def _clean(text: str) -> str:
    return escape_controls(" ".join(str(text).split()))


def _cell(value: Any) -> str:
    """Return text that neither ends a cell of a Markdown table nor begins a tag."""
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return _clean(text).replace("|", "\\|").replace("<", "&lt;")


@dataclass(frozen=True, kw_only=True)
class GateOptions(SharedOptions):
    """Files for a build server."""

    junit: Annotated[Path | None, typer.Option("--junit", help="Write what --fail-if asks as JUnit XML here.")] = None
    summary: Annotated[
        Path | None,
        typer.Option("--summary", help="Add the answer in Markdown to this file, such as $GITHUB_STEP_SUMMARY."),
    ] = None

    def check(self) -> None:
        """Refuse files that cannot be written, before any work is done."""
        for path in (self.junit, self.summary):
            check_writable(path)

    def write(self, suite: str, checks: Sequence[GateCheck], rows: Sequence[dict[str, Any]] = ()) -> None:
        """Write the files that were asked for."""
        if self.junit is not None:
            with written_whole(self.junit, "the JUnit file") as partial:
                partial.write_text(junit_text(suite, checks), encoding="utf-8")
        if self.summary is not None:
            try:
                with self.summary.open("a", encoding="utf-8") as file:
                    file.write(summary_text(suite, checks, rows))
            except OSError as error:
                raise NotWritten(f"the summary was not written to {str(self.summary)!r}: {error.strerror}.") from error
