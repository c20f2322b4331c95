from __future__ import annotations

import csv
import json
import subprocess
import sys
from functools import partial

import pytest

# a browser that runs as root and looks nothing up
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def run(run_unseen):
    """Run a command of kinetics in this process."""
    return partial(run_unseen, "kinetics")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("kinetics")
    words = ["simulate", "--subjects", "6", "--noise", "0.02", "--effect", "k02=3", "--seed", "1", "--out", "ttr.csv"]
    done = subprocess.run(
        [sys.executable, "-m", "unseen", "kinetics", *words], capture_output=True, text=True, cwd=where
    )
    assert done.returncode == 0, done.stderr
    assert "6 simulated subjects" in done.stdout
    assert "samples" in done.stderr
    for name, two in (
        ("ttr.csv", "two.csv"),
        ("doses.csv", "two_doses.csv"),
    ):  # two of the six, for what needs no groups
        header, *lines = (where / name).read_text().splitlines(keepends=True)
        at = header.rstrip().split(",").index("subject")
        (where / two).write_text(header + "".join(line for line in lines if line.split(",")[at] in ("s1", "s2")))
    return where


def test_simulated_tables_repeat_with_the_seed(run, folder, tmp_path):
    again = run(
        "simulate",
        "--subjects",
        6,
        "--noise",
        0.02,
        "--effect",
        "k02=3",
        "--seed",
        1,
        "--out",
        "ttr.csv",
        "--quiet",
        cwd=tmp_path,
    )
    assert again.stderr == ""
    assert (tmp_path / "ttr.csv").read_bytes() == (folder / "ttr.csv").read_bytes()
    assert (tmp_path / "doses.csv").read_text().splitlines()[0] == "subject,dose_precursor,dose_product,group"


@pytest.mark.slow
@pytest.mark.sample
def test_fit_prints_json_and_writes_report_and_frame(run, folder):
    done = run(
        "fit",
        "two.csv",
        "--doses",
        "two_doses.csv",
        "--json",
        "--report",
        "k.html",
        "--frame",
        "k.csv",
        "--quiet",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    record = json.loads(done.stdout)
    assert len(record["subjects"]) == 2
    assert (folder / "k.html").stat().st_size > 50_000
    with (folder / "k.csv").open() as file:
        assert [row["subject"] for row in csv.DictReader(file)] == ["s1", "s2"]


@pytest.mark.slow
@pytest.mark.sample
def test_areas_and_groups(run, folder):
    done = run("nca", "ttr.csv", "--doses", "doses.csv", cwd=folder)
    assert done.returncode == 0
    assert "Ra_Phe" in done.stdout
    done = run(
        "compare-groups",
        "ttr.csv",
        "--doses",
        "doses.csv",
        "--group",
        "group",
        "--permutations",
        19,
        "--json",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sizes"] == {"changed": 3, "control": 3}


@pytest.mark.parametrize(("cell", "words"), [("?", "missing"), ("<0.01", "'<0.01', which is not a finite number")])
def test_partial_results_have_their_own_exit_code(run, folder, cell, words):
    lines = (folder / "two.csv").read_text().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + f",{cell}"
    (folder / "bad.csv").write_text("\n".join(lines) + "\n")
    done = run("fit", "bad.csv", "--doses", "two_doses.csv", "--location", "EC-EC", cwd=folder)
    assert done.returncode == 3
    assert f"subject s1, row 1 (Phe-6): ttr is {words}; correct the cell" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "nosuch.csv", "--doses", "doses.csv"], "does not exist"),
        (["fit", "ttr.csv", "--doses", "doses.csv", "--unit", "ppm"], "unknown unit"),
        (["fit", "ttr.csv", "--doses", "doses.csv", "--order", "two"], "--order"),
        (["fit", "ttr.csv", "--doses", "doses.csv", "--drop-early", "Tyr-4"], "ANALYTE=MINUTES"),
        (["fit", "ttr.csv", "--doses", "doses.csv", "--location", "EC-E"], "did you mean 'EC-EC'"),
        (["fit", "ttr.csv"], "--doses"),
        (["compare-groups", "two.csv", "--doses", "two_doses.csv", "--group", "diet"], "'diet'"),
        (["simulate", "--out", "x.csv", "--effect", "k02"], "RATE=FACTOR"),
    ],
)
def test_misuse_is_a_sentence_and_exit_code_2(run, folder, arguments, words):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.sample
def test_no_table_of_the_report_is_cut_at_1200_px(run, folder, chromium):
    from playwright.sync_api import sync_playwright

    assert run("fit", "two.csv", "--doses", "two_doses.csv", "--report", "wide.html", cwd=folder).returncode == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto((folder / "wide.html").as_uri())
        widths = page.eval_on_selector_all(
            ".scroll:has(table)", "all => all.map(e => [e.scrollWidth, e.clientWidth, e.innerText.slice(0, 80)])"
        )
        browser.close()
    assert len(widths) >= 6
    assert [w for w in widths if w[0] > w[1]] == []
