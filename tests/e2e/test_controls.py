"""Control characters and marks of direction from files are shown, not obeyed: in the terminal, in reports and in the dashboard."""

from __future__ import annotations

import json
import re
import sys

import pytest

from unseen.cli import app as cli
from unseen.core.controls import HIDDEN

EVIL = "v\x1b[2J\u202etxt\x9b\u2066"
SHOWN = r"v\u001b[2J\u202etxt\u009b\u2066"


def call(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["unseen", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    out = capsys.readouterr()
    return stop.value.code, out.out, out.err


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{k * 7 % 11},{k * 5 % 13},{('u', EVIL)[k % 2]},{('u', EVIL)[k // 2 % 2]}\n" for k in range(60))
    (tmp_path / "evil.csv").write_text(f"a,{EVIL},y,p\n{rows}", encoding="utf-8")
    return tmp_path


COMMANDS = {
    "measure": ["measure", "evil.csv", "--truth", "y", "--pred", "p"],
    "predictions": ["predictions", "evil.csv", "--truth", "y", "--pred", "p"],
    "assess": ["assess", "evil.csv", "-t", "y", "--drop", "p", "--quick", "-m", "cart", "--quiet", "--all"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_terminal_and_report(name, folder, monkeypatch, capsys) -> None:
    code, out, _ = call([*COMMANDS[name], "--report", "a.html"], monkeypatch, capsys)
    assert code in (0, 1)
    page = (folder / "a.html").read_text(encoding="utf-8")
    for text in (out, page):
        assert not HIDDEN.search(text)
    assert name == "predictions" or SHOWN in page  # that report names no classes


def test_terminal_shows_the_class(folder, monkeypatch, capsys) -> None:
    # the parser takes colours out of what goes to no terminal
    assert r"v\u202etxt\u009b\u2066" in call(COMMANDS["measure"], monkeypatch, capsys)[1]


def test_json_stays_the_same_value(folder, monkeypatch, capsys) -> None:
    code, out, _ = call([*COMMANDS["measure"], "--json"], monkeypatch, capsys)
    assert code == 0
    assert not HIDDEN.search(out)
    assert EVIL in json.dumps(json.loads(out), ensure_ascii=False).replace(r"\u001b", "\x1b")


def test_messages(folder, monkeypatch, capsys) -> None:
    code, _, err = call(["assess", "evil.csv", "-t", "nothing"], monkeypatch, capsys)
    assert code == 2
    assert not HIDDEN.search(err)
    assert re.search(r"\\u?(x?001|x1)b", err)
