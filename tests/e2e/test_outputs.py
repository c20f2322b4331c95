"""Outputs are whole or not there: a full disk leaves no empty file, an old report is not lost, a refused command leaves no store."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

import unseen
from unseen.cli import app as cli
from unseen.core.errors import NotWritten
from unseen.core.writing import written_whole


def call(arguments, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["unseen", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code


@pytest.fixture
def full_disk(monkeypatch):
    """Let every file take its first 10 bytes and then refuse."""
    write_bytes = Path.write_bytes

    def fill(self, content):
        write_bytes(self, content[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fill)


class TestReport:
    def test_full_disk_leaves_no_file(self, full_disk, tmp_path, monkeypatch, capsys) -> None:
        file = tmp_path / "a.html"
        assert call(["assess", "iris", "--quick", "-m", "dummy", "--quiet", "--report", str(file)], monkeypatch) == 74
        assert "cannot write the report" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_full_disk_keeps_the_old_report(self, full_disk, tmp_path, monkeypatch) -> None:
        file = tmp_path / "a.html"
        file.write_text("old")
        assert call(["assess", "iris", "--quick", "-m", "dummy", "--quiet", "--report", str(file)], monkeypatch) == 74
        assert file.read_text() == "old"
        assert list(tmp_path.iterdir()) == [file]


class TestWrittenWhole:
    def test_error_in_between(self, tmp_path) -> None:
        file = tmp_path / "a.txt"
        file.write_text("old")
        with pytest.raises(KeyboardInterrupt), written_whole(file) as partial:  # noqa: PT012
            partial.write_text("half")
            raise KeyboardInterrupt
        assert file.read_text() == "old"
        assert list(tmp_path.iterdir()) == [file]

    def test_link_and_permissions_stay(self, tmp_path) -> None:
        file, link = tmp_path / "a.txt", tmp_path / "link.txt"
        file.write_text("old")
        file.chmod(0o640)
        link.symlink_to(file)
        with written_whole(link) as partial:
            partial.write_text("new")
        assert link.is_symlink()
        assert file.read_text() == "new"
        assert stat.S_IMODE(file.stat().st_mode) == 0o640

    def test_device_is_written_as_it_is(self) -> None:
        with written_whole(os.devnull) as partial:
            partial.write_text("gone")
        assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)

    def test_no_folder(self, tmp_path) -> None:
        with (
            pytest.raises(NotWritten, match="cannot write the table to"),
            written_whole(tmp_path / "no" / "a", "the table") as partial,
        ):
            partial.write_text("x")

    def test_tables(self, tmp_path, monkeypatch) -> None:
        table = unseen.run("dummy", *(lambda d: (d.X, d.y))(unseen.datasets.load("iris")), design="holdout")
        file = tmp_path / "run.npz"
        table.save(file)
        before = file.read_bytes()

        def fail(*args, **options):
            raise OSError(errno.ENOSPC, "full")

        monkeypatch.setattr("numpy.savez_compressed", fail)
        with pytest.raises(NotWritten, match="full"):
            table.save(file)
        assert file.read_bytes() == before
        assert list(tmp_path.iterdir()) == [file]


class TestStore:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["assess", "nothere.csv", "-t", "y"],
            ["assess", "iris", "-m", "nosuch"],
            ["compare", "iris", "-m", "cart", "-m", "nosuch"],
            ["diagnose", "nothere.csv", "-t", "y"],
            ["study", "run", "nothere.toml"],
            ["study", "resume", "nothing"],
            ["study", "status", "nothing"],
        ],
        ids=lambda a: "-".join(a[:2]),
    )
    def test_refused_command_leaves_none(self, arguments, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert call([*arguments, "--store", "sqlite:///new.db"], monkeypatch) == 2
        assert list(tmp_path.iterdir()) == []

    def test_message_names_the_store(self, tmp_path, monkeypatch, capsys) -> None:
        monkeypatch.chdir(tmp_path)
        assert call(["assess", "iris", "--store", "no/new.db"], monkeypatch) == 2
        assert "'no/new.db'" in capsys.readouterr().err

    def test_accepted_command_keeps(self, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert call(["assess", "iris", "--quick", "-m", "dummy", "--quiet", "--store", "new.db"], monkeypatch) == 0
        assert [p.name for p in tmp_path.iterdir()] == ["new.db"]
