"""Rules of the four shelves of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

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
