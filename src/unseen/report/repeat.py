"""The last section of an assessment's report: everything needed to get the same numbers again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unseen.report._sections import Block, Code, Section, Table, section
from unseen.verbs.assessment import Assessment

__all__ = ["repeat"]


@section(Assessment, 90)
def repeat(a: Assessment) -> Section:
    """Return the command, the settings and the designs with their fingerprints."""
    known = a.settings
    blocks: list[Block] = [
        Code(str(known["repeat"]), "The same command with the same data and versions gives the same numbers."),
        Table(["what", "value"], _facts(a), "Settings.", sortable=False),
    ]
    designs = [
        [name, _options(known["designs"].get(name, table.plan.options)), len(table.plan), table.plan.fingerprint]
        for name, table in a.tables.items()
    ]
    blocks.append(
        Table(["design", "options", "splits", "fingerprint of the splits"], designs, "Designs.", sortable=False)
    )
    return Section("repeat", "How to repeat this", blocks)


def _facts(a: Assessment) -> list[list[Any]]:
    known = a.settings
    rows: list[list[Any]] = [
        ["model", a.model],
        ["loss", a.headline.loss],
        ["seed", str(known["seed"])],
        ["confidence level", str(known["level"])],
        ["effort", _options(known["effort"])],
        ["headline", f"{a.headline.method} on {a.headline_design} splits"],
        ["data", f"{a.data.n} rows, fingerprint {known['data_fingerprint'] or 'not kept'}"],
    ]
    return [*rows, *([f"{name} version", version] for name, version in known["versions"].items())]


def _options(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "defaults"
