"""Rules of the four shelves of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = re.compile(r"`(python (-m )?[\w./]+|unseen [a-z-]+|make bench)")
TABLE = re.compile(r"\{include\} \.\./tables/(\S+)")


def _sections(page):
    return re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)


def test_every_table_of_validation_has_the_command_that_makes_it_in_its_section():
    bare = {
        f"{page.name}: {table}"
        for page in (DOCS / "validation").glob("*.md")
        for section in _sections(page)
        for table in TABLE.findall(section)
        if not COMMAND.search(section + (DOCS / "tables" / table).read_text(encoding="utf-8"))
    }
    assert not bare


def test_two_dashes_of_an_option_stay_on_the_page():
    smartquotes = pytest.importorskip("docutils.utils.smartquotes", reason="docutils is not installed")
    action = re.search(r'^smartquotes_action = "(\w+)"', (DOCS / "conf.py").read_text(encoding="utf-8"), flags=re.M)
    help_text = "Power of a paired comparison; of --n, --difference and --power give two."
    assert smartquotes.smartyPants(help_text, action.group(1) if action else "qDe") == help_text


def test_every_block_of_code_names_its_language():
    bare = [
        f"{page.name}: {k}"
        for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
        for k, line in enumerate(re.findall(r"^```.*$", page.read_text(encoding="utf-8"), flags=re.M))
        if k % 2 == 0 and line == "```"
    ]
    assert not bare


def test_guides_have_no_laboratory_tables():
    assert not {p.name for p in (DOCS / "guides").glob("*.md") if TABLE.search(p.read_text(encoding="utf-8"))}


def test_a_decision_is_a_short_page_with_its_reason_and_what_follows():
    pages = [p for p in (DOCS / "decisions").glob("*.md") if p.stem != "index"]
    assert len(pages) > 80
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.fullmatch(
            r"# .+\n\n\*\*Decision\.\*\* .+\n\n\*\*Reason\.\*\* .+\n\n\*\*Consequence\.\*\* .+\n", text
        ), page
        assert len(text.split()) < 160, page
        assert "had been" not in text, page


def test_every_page_stands_on_its_shelf():
    for shelf in ("guides", "reference", "validation", "decisions"):
        index = (DOCS / shelf / "index.md").read_text(encoding="utf-8").split("\n")
        assert {p.stem for p in (DOCS / shelf).glob("*.md")} - {"index"} <= set(index), shelf
    assert [p.name for p in DOCS.glob("*.md")] == ["index.md"]
