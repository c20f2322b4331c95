"""Every code of a note is declared once by its owner, and the page of notes shows them all."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unseen.checks.registry import known_checks
from unseen.core.errors import UnseenError
from unseen.core.notes import Note, NoteKind, declare_notes, known_notes, note

ROOT = Path(__file__).parents[3]


def make_notes():
    spec = importlib.util.spec_from_file_location("make_notes_of_docs", ROOT / "docs" / "make_notes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_up_to_date() -> None:
    module = make_notes()
    assert module.PAGE.read_text() == module.page(), "stale: run python docs/make_notes.py"


def test_page_shows_every_code_once() -> None:
    shown = re.findall(r"^\| `([UKN]\d{3})` \|", make_notes().page(), re.MULTILINE)
    assert sorted(shown) == list(known_notes())


def test_every_code_in_the_source_is_declared() -> None:
    texts = (path.read_text() for path in (ROOT / "src" / "unseen").rglob("*.py"))
    used = {code for text in texts for code in re.findall(r'\bnote\(\s*"(\w+)"', text)}
    assert used <= set(known_notes())


def test_a_check_has_a_file_of_its_own_with_a_text_for_each_field() -> None:
    modules = [one.find.__module__ for one in known_checks().values()]
    assert len(set(modules)) == len(modules) >= 8
    for one in known_checks().values():
        assert all(text.strip() for text in (one.title, one.sentence, one.advice))
        assert (sys.modules[one.find.__module__].__doc__ or "").startswith(f"{one.code}: ")


def test_undeclared_codes_are_refused() -> None:
    for code in ("U999", "X001", ""):
        with pytest.raises(KeyError, match="not declared"):
            note(code, "text")


def test_a_code_means_one_thing() -> None:
    with pytest.raises(UnseenError, match="two notes"):
        declare_notes(NoteKind("U007", "something else", "Do something else."))


def test_a_stored_note_imports_its_owner_alone() -> None:
    program = (
        "import sys; from unseen.core.notes import Note; "
        "print([Note(c, '').title for c in ('U005', 'U007', 'K001', 'N001')]); "
        "heavy = {'torch', 'scipy', 'pandas', 'sklearn'} & set(sys.modules); assert not heavy, heavy; "
        "extra = [m for m in sys.modules if m.startswith(('unseen.kinetics.', 'unseen.nets.')) and not m.endswith('.notes')]; "
        "assert not extra, extra"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([Note(c, "").title for c in ("U005", "U007", "K001", "N001")])
