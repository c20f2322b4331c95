"""No error escapes as exit code 1, which means a finding: each known way in ends in a sentence and a documented code."""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unseen
from unseen.cli import app as cli
from unseen.core.errors import FitError, InputError, KindError
from unseen.datasets.conversion import as_data
from unseen.engine.where import client_of

UNSEEN = [sys.executable, "-m", "unseen"]


def call(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["unseen", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    out = capsys.readouterr()
    return stop.value.code, out.out, out.err


class TestTheOnePlace:
    @pytest.mark.parametrize(
        "error", [KeyError("x"), RuntimeError("two\nlines."), RecursionError(), OverflowError("big"), Warning("w")]
    )
    def test_whatever_escapes_is_one_sentence_and_code_70(self, error, monkeypatch, capsys) -> None:
        def fail(*args):
            raise error

        monkeypatch.delenv("UNSEEN_DEBUG", raising=False)
        monkeypatch.setattr("unseen.datasets.bundled.summary", fail)
        code, out, err = call(["datasets"], monkeypatch, capsys)
        assert (code, out) == (70, "")
        assert len(err.strip().splitlines()) == 1
        assert type(error).__name__ in err
        assert "UNSEEN_DEBUG=1" in err
        code, _, err = call(["datasets", "--json"], monkeypatch, capsys)
        assert code == 70
        assert json.loads(err)["error"]["kind"] == "InternalError"

    def test_debugging_shows_where(self, monkeypatch, capsys) -> None:
        monkeypatch.setenv("UNSEEN_DEBUG", "1")
        monkeypatch.setattr("unseen.datasets.bundled.summary", lambda: {}["gone"])
        code, _, err = call(["datasets"], monkeypatch, capsys)
        assert code == 70
        assert "Traceback" in err
        assert "unseen: internal error" in err

    def test_every_code_is_documented(self) -> None:
        page = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text()
        listed = {int(c) for c in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
        assert listed == {0, 1, 2, 3, 70, 74, 130}


class TestOutput:
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_full_device(self) -> None:
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([*UNSEEN, "datasets"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 74
        assert done.stderr.count("\n") == 1
        assert "is lost" in done.stderr

    def test_closed_stdout(self) -> None:
        line = f'exec "{sys.executable}" -m unseen datasets >&-'
        done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 74
        assert "stdout is closed" in done.stderr

    def test_a_reader_that_leaves_is_no_error(self) -> None:
        process = subprocess.Popen([*UNSEEN, "methods"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate()
        assert (process.returncode, err) == (0, b"")


NUMBERS = "y,p\n" + "".join(f"{k % 7 + 0.5},{k / 60:.3f}\n" for k in range(60))


class TestKnownWays:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["predictions", "bytes.jsonl", "--truth", "y", "--pred", "p"], "not UTF-8"),
            (["predictions", "deep.jsonl", "--truth", "y", "--pred", "p"], "line 1"),
            (["measure", "bytes.jsonl", "--truth", "y", "--pred", "p"], "not UTF-8"),
            (["assess", "iris", "--budget", "inf"], "budget is inf"),
            (["assess", "iris", "--budget", "nan"], "budget is nan"),
            (["assess", "iris", "--seed", str(2**63)], "--seed"),
            (["predictions", "n.csv", "--truth", "y", "--prob", "p", "--measure", "squared"], "measure of numbers"),
            (["predictions", "n.csv", "--truth", "y", "--prob", "p", "--measure", "r2"], "measure of numbers"),
            (["predictions", "n.csv", "--truth", "y", "--prob", "p"], "probabilities"),
        ],
    )
    def test_command(self, arguments, words, tmp_path, monkeypatch, capsys) -> None:
        (tmp_path / "bytes.jsonl").write_bytes(b'{"y": 1, "p": "\xff\xfe"}\n')
        (tmp_path / "deep.jsonl").write_text("[" * 100_000)
        (tmp_path / "n.csv").write_text(NUMBERS)
        monkeypatch.chdir(tmp_path)
        code, out, err = call(arguments, monkeypatch, capsys)
        assert (code, out) == (2, "")
        assert words in err

    def test_seeds_beyond_64_bits(self) -> None:
        y = np.tile([0, 1], 20)
        with pytest.raises(KindError, match="at most"):
            unseen.measure(y, y, random_state=2**63)
        assert unseen.measure(y, y, random_state=2**63 - 1).seed == 2**63 - 1

    @pytest.mark.parametrize("length", [2**62, 2**64 - 1, 200, 100_000_001])
    def test_safetensors_header(self, length, tmp_path) -> None:
        weights = pytest.importorskip("unseen.nets.files.weights")
        file = tmp_path / "net.safetensors"
        file.write_bytes(struct.pack("<Q", length) + b"{}" + b" " * 6)
        checkpoints = pytest.importorskip("unseen.nets.files.checkpoints")
        for read in (weights.read_weights, weights.read_metadata, checkpoints.read_state):
            with pytest.raises(InputError, match="no readable safetensors"):
                read(file)

    @pytest.mark.parametrize("fill", [0.0, np.nan, 1.0])
    def test_pandas_sparse_columns(self, fill) -> None:
        rng = np.random.default_rng(0)
        values = rng.integers(0, 2, (40, 3)).astype(float)
        sparse = {c: pd.arrays.SparseArray(values[:, k], fill_value=fill) for k, c in enumerate("abc")}
        data = as_data(pd.DataFrame(sparse), np.tile([0, 1], 20))
        read = data.X.toarray() if hasattr(data.X, "toarray") else data.X.to_numpy()
        np.testing.assert_array_equal(read, values)

    def test_sparse_text(self) -> None:
        text = pd.arrays.SparseArray(np.array(["u", "v"] * 10, dtype=object), fill_value="u")
        data = as_data(pd.DataFrame({"a": text}), np.tile([0, 1], 10))
        assert [str(v) for v in data.X["a"]] == ["u", "v"] * 10


def listening() -> set[str]:
    """Addresses on which this machine listens, as /proc/net/tcp writes them."""
    lines = [line.split() for file in ("tcp", "tcp6") for line in Path("/proc/net", file).read_text().splitlines()[1:]]
    return {fields[1] for fields in lines if fields[3] == "0A"}


class TestModelsThatRaise:
    @pytest.mark.parametrize("options", [["--quick"], ["--budget", "5"]], ids=lambda options: options[0].strip("-"))
    def test_a_fit_on_all_rows_that_fails_is_a_sentence(self, options, tmp_path, monkeypatch, capsys) -> None:
        """A cell of 1e308 overflows in the scaler, and the model refuses what comes out."""
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"x0": rng.normal(size=24), "x1": rng.normal(size=24), "y": list("ab") * 12})
        frame.loc[3, "x0"] = 1e308
        frame.to_csv(tmp_path / "data.csv", index=False)
        command = ["assess", str(tmp_path / "data.csv"), "--target", "y", "--model", "ridge", "--quiet", *options]
        code, out, err = call(command, monkeypatch, capsys)
        assert (code, out) == (2, "")
        assert "the fit on 24 rows failed; it says: " in err  # the warning of the overflow, or the refusal of NaN
        assert "Traceback" not in err

    def test_a_model_that_cannot_predict_is_a_sentence(self) -> None:
        class Mute:
            def fit(self, X, y):
                return self

            def predict(self, X):
                raise IndexError("nothing to say")

        X, y = unseen.datasets.load("iris").xy
        with pytest.raises(FitError, match=r"failed|could not predict") as caught:
            unseen.assess(Mute(), X, y, quick=True, random_state=0, progress=False)
        assert "IndexError: nothing to say" in str(caught.value)

    @pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
    def test_losses_that_are_no_numbers_are_refused(self) -> None:
        X = np.random.default_rng(0).normal(size=(30, 2))
        with pytest.raises(InputError, match=r"squared loss of \d+ predictions is too large .* reach 3e\+301"):
            unseen.assess("ols", X, np.arange(1, 31) * 1e300, quick=True, random_state=0, progress=False)

    def test_one_unit_has_no_jackknife_and_no_error(self) -> None:
        m = unseen.measure([1.0, 2.0], [1.5, 2.5], task="regression", groups=["s", "s"])
        assert m["normalised-absolute"].value == pytest.approx(1.0)


class TestOptionsAndCells:
    """Found by 20,000 inputs of the fuzzer; each ended with code 70, or left a store."""

    @pytest.mark.parametrize("option", [["--workers", "0"], ["--scheduler", "tcp://127.0.0.1:1"]], ids=lambda o: o[0])
    def test_a_refused_study_leaves_no_store(self, option, tmp_path, monkeypatch, capsys) -> None:
        pytest.importorskip("sqlalchemy", reason="studies need the extra 'study'")
        pytest.importorskip("distributed", reason="schedulers need the extra 'dask'")
        spec = tmp_path / "s.toml"
        spec.write_text(
            'name = "s"\nreplications = 2\nsizes = [20]\npopulations = ["gaussian-blocks"]\nmodels = ["knn:3"]\n'
            'methods = ["resub"]\nn_test = 100\n'
        )
        monkeypatch.setattr("unseen.engine.where.PATIENCE", 0.5, raising=False)
        command = ["study", "run", str(spec), "--store", str(tmp_path / "s.db"), "--quiet", *option]
        code, _, err = call(command, monkeypatch, capsys)
        assert code == 2
        assert err.startswith("unseen: ")
        assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]

    def test_a_label_that_ends_in_nul_is_refused(self) -> None:
        from unseen.evaluation.prediction_files import labels_of

        with pytest.raises(InputError, match=r"'a\\x00' ends in a NUL character"):
            labels_of([np.array(["a\x00", "b"], object)])

    def test_an_interval_that_says_nothing_is_still_one(self) -> None:
        from unseen.estimators.range_t import log_ends

        low, high = log_ends(1e-9, 1.0, 2.0)
        assert 0 <= low < 1e-9 < 1e200 < high

    def test_times_without_length_have_no_slope(self) -> None:
        from unseen.kinetics.noncompartmental import terminal_slope

        rate, points = terminal_slope(np.arange(1, 5) * 1e-310, np.array([0.4, 0.3, 0.2, 0.1]))
        assert np.isnan(rate)
        assert points == 0

    @pytest.mark.parametrize("command", ["permutation-test", "diagnose"])
    def test_permutations_without_end_are_refused(self, command, monkeypatch, capsys) -> None:
        words = [command, "iris", "--model", "naive-bayes", "--permutations", str(10**18), "--quiet"]
        code, _, err = call(words, monkeypatch, capsys)
        assert (code, err) == (
            2,
            "unseen: 1,000,000,000,000,000,000 permutations are asked for; give at most 1,000,000.\n",
        )

    def test_permutations_beyond_memory_are_refused(self) -> None:
        from unseen.nets.ranking.cmi import cmi

        gap = np.arange(8.0)
        axes = {"a": [0, 1] * 4, "b": [0, 0, 1, 1] * 2, "c": [0] * 4 + [1] * 4}
        with pytest.raises(InputError, match="give at most 1,000,000"):
            cmi(gap, gap, axes).noise_floor(10**20)


class TestDask:
    def test_workers_that_die_at_the_start(self, distributed, monkeypatch) -> None:
        def fail(**options):
            raise RuntimeError("Nanny failed to start.")

        monkeypatch.setattr(distributed, "LocalCluster", fail)
        with pytest.raises(FitError, match="'local:2' could not be started: Nanny failed to start; "):  # noqa: SIM117
            with client_of("local:2"):
                pass

    @pytest.mark.slow
    @pytest.mark.sample
    @pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc/net/tcp")
    def test_listens_on_loopback_only_and_shows_no_dashboard(self, distributed, monkeypatch) -> None:
        from urllib.error import HTTPError
        from urllib.request import urlopen

        monkeypatch.delenv("UNSEEN_DASK_DASHBOARD", raising=False)
        before = listening()
        with client_of("local:1") as client:
            mine = listening() - before
            assert client.submit(sum, [1, 2]).result() == 3
            for page in ("status", "info/main/workers.html"):
                with pytest.raises(HTTPError, match="404"):
                    urlopen(client.dashboard_link.replace("status", page))
        assert mine
        # 127.0.0.1 in the byte order of the machine
        assert {address.partition(":")[0] for address in mine} == {
            f"{int.from_bytes(bytes([127, 0, 0, 1]), sys.byteorder):08X}"
        }

    @pytest.mark.slow
    def test_interrupt(self, distributed, tmp_path) -> None:
        command = [*UNSEEN, "assess", "breast-cancer", "-m", "rbf-svm", "--scheduler", "local:2", "--quiet"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, **pipes, text=True, start_new_session=True, cwd=tmp_path)
        time.sleep(6)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        out, err = process.communicate(timeout=60)
        assert process.returncode in (3, 130, -signal.SIGINT)
        assert "Traceback" not in err
        assert "stopped" in err or "interrupted: stopped" in out  # before the first fold, or with the answer so far
