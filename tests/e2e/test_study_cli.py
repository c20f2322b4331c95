"""`unseen study` from the shell: a spec made, run, stopped, resumed, summed up, exported and removed; and every misuse."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from unseen.cli import app
from unseen.store import open_store

SPEC = """
name = "{name}"
seed = {seed}
replications = {replications}
sizes = [20]
n_test = 200
models = ["cart", "knn:3"]
populations = ["gaussian-blocks"]
methods = ["resub", "holdout"]
"""


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run `unseen` in this process, as the console script does; what needs a process of its own starts one."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["unseen", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            app.main()
        out, err = capsys.readouterr()
        return Done(int(end.value.code or 0), out, err)

    return run


def spec(folder, name="s", seed=1, replications=3, extra=""):
    path = folder / f"{name}.toml"
    path.write_text(SPEC.format(name=name, seed=seed, replications=replications) + extra)
    return path


def refused(done, *words, code=2):
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_the_whole_life_of_a_study(cli, tmp_path):
    made = cli("study", "new", "my.toml")
    assert made.returncode == 0
    assert "unseen study run my.toml" in made.stdout
    run = cli("study", "run", "my.toml", "--replications", "2", "--quiet", "--report", "r.html", "--json")
    assert run.returncode == 0, run.stderr
    content = json.loads(run.stdout)
    assert (content["name"], content["done"], content["failed"]) == ("my", 2 * 2 * (2 * 4 + 1), 0)
    assert "<svg" in (tmp_path / "r.html").read_text()
    assert (tmp_path / "unseen.db").exists()
    listed = json.loads(cli("study", "list", "--json").stdout)["studies"]
    assert [(s["name"], s["state"]) for s in listed] == [("my", "done")]
    status = json.loads(cli("study", "status", "my", "--json").stdout)
    assert (status["total"], status["failures"]) == (36, [])
    text = cli("study", "summary", "my", "--pairs").stdout
    assert "gaussian-blocks, small tree" in text
    assert "p_adjusted" in text
    assert cli("study", "export", "my", "--to", "my.tex").returncode == 0
    assert r"\toprule" in (tmp_path / "my.tex").read_text()
    assert cli("study", "export", "my", "--to", "my.csv", "--quiet").stdout == ""
    assert len((tmp_path / "my.csv").read_text().splitlines()) == 37
    refused(cli("study", "remove", "my"), "36 results", "--yes")
    assert cli("study", "remove", "my", "--yes").returncode == 0
    assert json.loads(cli("study", "list", "--json").stdout)["studies"] == []


def test_a_budget_ends_with_code_3_and_resume_completes(cli, tmp_path):
    path = spec(tmp_path, extra="[budget]\nseconds = 0.0001\n")
    run = cli("study", "run", path, "--store", "b.db", "--quiet")
    refused(run, "what is done is kept", "unseen study resume s --store b.db", code=3)
    assert json.loads(cli("study", "status", "s", "--store", "b.db", "--json").stdout)["state"] != "done"
    done = cli("study", "resume", "s", "--store", "b.db", "--seconds", "600", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 12


def as_version_1(path):
    """Take out of a store what later versions added, as an older unseen would have left it."""
    with sqlite3.connect(path) as store:
        store.execute("DROP TABLE kept")
        store.execute("ALTER TABLE results DROP COLUMN p_value")
        store.execute("UPDATE meta SET value = '1' WHERE key = 'version'")


def version_of(path):
    with sqlite3.connect(path) as store:
        return int(store.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()[0])


def test_resume_brings_an_older_store_up_to_date_as_run_does(cli, tmp_path):
    path = spec(tmp_path, extra="[budget]\nseconds = 0.0001\n")
    assert cli("study", "run", path, "--store", "o.db", "--quiet").returncode == 3
    before = json.loads(cli("study", "status", "s", "--store", "o.db", "--json").stdout)
    as_version_1(tmp_path / "o.db")
    refused(cli("study", "status", "s", "--store", "o.db"), "older version 1", "unseen study resume NAME")
    assert version_of(tmp_path / "o.db") == 1
    done = cli("study", "resume", "s", "--store", "o.db", "--seconds", "600", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert before["done"] < json.loads(done.stdout)["done"] == 12
    assert version_of(tmp_path / "o.db") > 1


@pytest.mark.parametrize(("words", "code"), [(["cancel", "s"], 0), (["remove", "s", "--yes"], 0), (["resume", "t"], 2)])
def test_what_writes_brings_an_older_store_up_to_date(cli, tmp_path, words, code):
    assert cli("study", "run", spec(tmp_path, replications=2), "--quiet").returncode == 0
    as_version_1(tmp_path / "unseen.db")
    done = cli("study", *words)
    assert done.returncode == code, done.stderr
    assert ("unknown study 't'" in done.stderr) == (code == 2)
    assert version_of(tmp_path / "unseen.db") > 1


def test_failed_tasks_end_with_code_3_and_their_reason(cli, tmp_path):
    path = spec(tmp_path)
    path.write_text(path.read_text().replace('"holdout"', '"fpe"'))
    run = cli("study", "run", path, "--quiet")
    refused(run, "6 failed, first gaussian-blocks, cart, n = 20, fpe: fpe is a closed form", code=3)
    assert "resub" in run.stdout


@pytest.mark.slow
@pytest.mark.sample
def test_ctrl_c_keeps_what_is_done_and_resume_completes(cli, tmp_path):
    path = spec(tmp_path, replications=150)
    command = [sys.executable, "-m", "unseen", "study", "run", str(path), "--quiet"]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.1)
        if (tmp_path / "unseen.db").exists() and _finished(tmp_path) > 0:
            break
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 3, err
    assert "Traceback" not in err
    done = _finished(tmp_path)
    assert 0 < done < 600
    assert str(done) in err
    finished = cli("study", "resume", "s", "--quiet", "--json")
    assert json.loads(finished.stdout)["done"] == 600


def _finished(folder):
    try:
        with sqlite3.connect(f"file:{folder / 'unseen.db'}?mode=ro", uri=True) as connection:
            return connection.execute("select count(*) from results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
@pytest.mark.sample
def test_two_runs_share_one_study(cli, tmp_path):
    path = spec(tmp_path, replications=40)
    command = [sys.executable, "-m", "unseen", "study", "run", str(path), "--json", "--quiet"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"
    ]
    outs = [child.communicate(timeout=300) for child in both]
    assert [child.returncode for child in both] == [0, 0], outs
    one, other = (json.loads(out) for out, _ in outs)
    assert one == other
    assert one["done"] == 160


WRONG = {
    "no such spec": (["study", "run", "no.toml"], ["there is no file 'no.toml'", "unseen study new no.toml"]),
    "a folder": (["study", "run", "."], ["cannot read '.'"]),
    "no such study": (["study", "summary", "ss"], ["unknown study 'ss'", "'s'"]),
    "no such study to resume": (["study", "resume", "t"], ["unknown study 't'", "known: s"]),
    "no such study to cancel": (["study", "cancel", "t"], ["unknown study 't'"]),
    "another seed": (["study", "run", "s.toml", "--seed", "9"], ["with seed 1, and seed 9 was given"]),
    "negative seed": (["study", "run", "s.toml", "--seed", "-1"], ["--seed"]),
    "one replication": (["study", "run", "s.toml", "--replications", "1"], ["replications: 1 was given"]),
    "no store": (["study", "list", "--store", "no.db"], ["there is no store at 'no.db'"]),
    "a store that is no store": (["study", "list", "--store", "s.toml"], ["not an SQLite database"]),
    "a store that is text": (["study", "run", "s.toml", "--store", "s.toml"], ["not an SQLite database"]),
    "unknown kind of store": (["study", "list", "--store", "mysql://x/y"], ["unknown kind of store"]),
    "unknown ending": (["study", "export", "s", "--to", "s.doc"], ["ends in '.doc'", ".parquet"]),
    "export into nothing": (["study", "export", "s", "--to", "no/s.csv"], ["does not exist"]),
    "report into nothing": (["study", "summary", "s", "--report", "no/s.html"], ["does not exist"]),
    "template over a file": (["study", "new", "s.toml"], ["is not overwritten"]),
    "broken TOML": (["study", "run", "broken.toml"], ["broken.toml is not valid TOML", "line 2"]),
    "unknown key": (["study", "run", "typo.toml"], ["typo.toml: replicatons: unknown key", "'replications'"]),
    "empty spec": (["study", "run", "empty.toml"], ["name: this key is needed"]),
    "a newer store": (["study", "list", "--store", "newer.db"], ["newer"]),
    "assessment into nothing": (["assess", "iris", "--store", "no/s.db"], ["does not exist"]),
    "comparison into nothing": (["compare", "iris", "-m", "lda", "-m", "cart", "--store", "no/s.db"], ["does not exist"]),
    "reproduction into nothing": (["reproduce", "larsen-hansen", "--store", "no/s.db"], ["does not exist"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory, run_unseen):
    """A folder with a small study, broken specs and a store from the future."""
    folder = tmp_path_factory.mktemp("misuse")
    assert run_unseen("study", "run", spec(folder, replications=2), "--quiet", cwd=folder).returncode == 0
    (folder / "broken.toml").write_text('name = "x"\nsizes = = 3\n')
    (folder / "typo.toml").write_text(
        SPEC.format(name="t", seed=0, replications=2).replace("replications", "replicatons")
    )
    (folder / "empty.toml").write_text("")
    open_store(folder / "newer.db").close()
    with sqlite3.connect(folder / "newer.db") as connection:
        connection.execute("update meta set value = '999' where key like '%version%'")
    return folder


@pytest.mark.parametrize("case", WRONG)
def test_misuse_is_a_sentence_and_code_2(case, place, cli, monkeypatch):
    arguments, words = WRONG[case]
    monkeypatch.chdir(place)
    refused(cli(*arguments), *words)


def test_misuse_as_json(place, cli, monkeypatch):
    monkeypatch.chdir(place)
    done = cli("study", "summary", "ss", "--json")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["kind"] == "UnknownName"


def test_assessments_and_comparisons_are_filed(cli, tmp_path):
    assert cli("assess", "iris", "-m", "lda", "--quick", "--quiet", "--store", "k.db").returncode == 0
    filed = cli("compare", "iris", "-m", "lda", "-m", "naive-bayes", "--store", "k.db")
    assert filed.returncode == 0
    assert "kept as comparison 2" in filed.stderr
    with open_store(tmp_path / "k.db", read_only=True) as opened:
        kept = {k.kind: opened.record(k.id) for k in opened.records()}
    assert kept["assessment"].name == "iris, lda"
    assert 0 <= kept["assessment"].payload["error"] < 0.1
    assert kept["comparison"].payload["pairs"][0]["a"] == "lda"


@pytest.mark.slow
@pytest.mark.sample
def test_a_population_beside_the_spec_is_found(cli, tmp_path):
    (tmp_path / "coin_of_the_shell.py").write_text(
        "import numpy as np\nfrom unseen.datasets import as_data\nclass Coin:\n"
        "    def draw(self, n, rng):\n"
        "        return as_data(rng.standard_normal((n, 2)), rng.permutation(np.arange(n) % 2), task='classification')\n"
        "    def true_error(self, predict, rng, n_test=5000):\n        return 0.5\n"
    )
    path = spec(tmp_path)
    path.write_text(
        path.read_text().replace('populations = ["gaussian-blocks"]', "")
        + '[[populations]]\nfactory = "coin_of_the_shell:Coin"\n'
    )
    done = cli("study", "run", path, "--workers", "2", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert {c["truth"] for c in json.loads(done.stdout)["cells"]} == {0.5}
