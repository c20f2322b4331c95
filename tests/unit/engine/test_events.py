"""The progress bar: nothing on stdout, lines above it as they were written, nothing while a run is short."""

from __future__ import annotations

from unseen.engine import events
from unseen.engine.events import Bar, Silent, reporter_for


def test_a_line_is_written_as_it_is_with_and_without_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(events, "PATIENCE", -1.0)
    text = "waiting for [3] tasks " + "of other drivers " * 12
    bar = Bar()
    bar.say(text)
    bar.expect(4, "kfold")
    bar.advance(1)
    bar.say(text)
    bar.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count(f"unseen: {text}") == 2


def test_a_short_run_shows_no_bar(capsys):
    bar = Bar()
    bar.expect(4, "kfold")
    bar.advance(4)
    bar.close()
    assert capsys.readouterr() == ("", "")


def test_where_stderr_is_no_terminal_nothing_is_shown(capsys):
    assert isinstance(reporter_for(None), Silent)
    assert isinstance(reporter_for(True), Bar)
    mine = Silent()
    assert reporter_for(mine) is mine
