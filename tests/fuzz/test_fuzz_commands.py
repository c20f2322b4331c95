"""Commands on inputs made by grammar and changed once: a result or a sentence, never a traceback, and nothing left by a refusal."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="studies need the extra 'study'")
pytest.importorskip("pyarrow", reason="tables are written as Parquet too")

SAMPLED, SMALL, ALL, LARGE = 1_000, 40, 20_000, 500  # inputs in CI and in all, and how many a test runs


@pytest.fixture(scope="module")
def fuzz():
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        return importlib.import_module("fuzz_commands")
    finally:
        sys.path.pop(0)


def run(fuzz, first, last):
    """Run inputs, fail with every one that ended badly, and return the share that got past validation."""
    outcomes = list(fuzz.make_outcomes(range(first, last)))
    bad = [str(one) for one in outcomes if one.faults]
    assert not bad, "\n".join(bad)
    return sum(one.code in fuzz.DONE for one in outcomes) / len(outcomes)


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("first", range(0, SAMPLED, SMALL))
def test_a_fixed_thousand(fuzz, first):
    assert run(fuzz, first, first + SMALL) > 1 / 3  # a half of all; 40 inputs vary


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SAMPLED, ALL, LARGE))
def test_twenty_thousand(fuzz, first):
    assert run(fuzz, first, first + LARGE) >= 1 / 2


@pytest.mark.slow
@pytest.mark.sample
def test_what_the_grammar_makes_is_valid(fuzz):
    """Otherwise an input would be refused for another reason than its change."""
    fuzz.pantry()
    slow = {("diagnose",), ("kinetics", "fit"), ("kinetics", "compare-groups"), ("reproduce",), ("resub",)}
    for words, (_, make) in fuzz.GRAMMAR.items():
        if words not in slow:
            one = fuzz.run_input(make(random.Random(str(words))), 0)
            assert one.code in fuzz.DONE, f"{one}"


def test_every_command_is_in_the_grammar(fuzz):
    from unseen.request.command_line import COMMANDS

    fuzz.app._attach_commands()
    known = {" ".join(words) for words in fuzz.WHOLE_GRAMMAR} | set(fuzz.LEFT_OUT)
    assert {f"{c.group} {c.name}".strip() for c in COMMANDS} == known


def test_an_input_follows_from_its_number(fuzz):
    one, other = fuzz.input_of(713), fuzz.input_of(713)
    assert one.line.words() == other.line.words()
    assert {name: t.content() for name, t in one.tables.items() if t.form != "npz"} == {
        name: t.content() for name, t in other.tables.items() if t.form != "npz"
    }
    lines = {tuple(fuzz.input_of(k).line.words()) for k in range(40)}
    assert len(lines) > 30


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        ((70, "", "unseen: internal error"), "exit code 70"),
        ((0, "", "Traceback (most recent call last)"), "a traceback"),
        ((2, "half a result", "unseen: no"), "a refusal that printed a result"),
        ((2, "", ""), "a refusal without a sentence"),
        ((0, "NaN", ""), "no JSON"),
        ((0, "{", ""), "no JSON"),
    ],
)
def test_faults_are_seen(fuzz, end, fault):
    assert any(fault in found for found in fuzz._faults(*end, ["assess", "--json"], set()))
    assert not list(fuzz._faults(0, "{}", "", ["assess", "--json"], {"report.html"}))
    assert list(fuzz._faults(2, "", '{"error": 1}', ["assess", "--json"], {"s.db"})) == ["a refusal that left ['s.db']"]
