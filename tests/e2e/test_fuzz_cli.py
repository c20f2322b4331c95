"""Arbitrary model names and arguments: success or exit code 2, never a traceback."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import unseen
from unseen.cli import app as cli
from unseen.core.errors import UnseenError
from unseen.models.named import named_model, names

SCALE = int(os.environ.get("UNSEEN_FUZZ", "1"))
STEADY = settings(
    max_examples=100 * SCALE, deadline=None, derandomize=SCALE == 1, suppress_health_check=list(HealthCheck)
)
SETS = [unseen.datasets.load(name) for name in ("iris", "diabetes")]

VALUES = st.one_of(
    st.integers(-3, 100).map(str),
    st.floats(width=32).map(repr),
    st.sampled_from(
        ["scale", "none", "True", "(1,2)", "[1", "{'a':1}", "'x'", '"', "__import__('os')", "1+1", "lambda: 0", ""]
    ),
    st.text(max_size=8),
)
KEYS = st.sampled_from(
    ["C", "gamma", "n_neighbors", "max_depth", "alpha", "strategy", "random_state", "nope", "", "C "]
)
MODELS = st.one_of(
    st.text(max_size=30),
    st.builds(
        lambda name, pairs: f"{name}:" + ",".join(f"{k}={v}" for k, v in pairs),
        st.sampled_from(names()),
        st.lists(st.tuples(KEYS, VALUES), max_size=3),
    ),
    st.builds(
        lambda name, rest: f"{name}:{rest}",
        st.sampled_from([*names(), "math", "os.path", "json", "sklearn.svm"]),
        st.text(max_size=12),
    ),
)


def call(arguments: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["unseen", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            return int(stop.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


class TestModelNames:
    @STEADY
    @given(MODELS, st.sampled_from(SETS))
    @example("knn:" + "(" * 500 + ")" * 400, SETS[0])
    @example("rbf-svm:C=" + "-" * 900 + "1", SETS[0])
    @example("json:loads", SETS[0])
    @example("sklearn.svm:SVC", SETS[0])
    @example("knn:3\0", SETS[0])
    @example("\ud800:x", SETS[0])
    def test_model_or_clear_error(self, text, data) -> None:
        model, words = None, ""
        try:
            model = named_model(text, data)
        except UnseenError as error:
            words = str(error)
        assert words or hasattr(model, "fit")


ARGUMENTS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "iris",
                "wine",
                "--json",
                "--quick",
                "--quiet",
                "--seed",
                "--level",
                "--n",
                "--model",
                "-m",
                "--target",
                "-t",
            ]
        ),
        st.sampled_from(
            ["--groups", "--positive", "--task", "--loss", "--sep", "--budget", "--fail-if", "--help", "--jobs", "--"]
        ),
        st.sampled_from(
            ["0", "1", "0.5", "-1", "nan", "80", "knn:3", "dummy", "setosa", "zero-one", "target", "classification"]
        ),
        st.text(max_size=6).filter(lambda t: "/" not in t),
    ),
    max_size=6,
)


class TestArguments:
    @STEADY
    @given(st.sampled_from(["methods", "datasets", "models", "nothing", ""]), ARGUMENTS)
    def test_lists(self, command, arguments) -> None:
        self.check(call([command, *arguments]), arguments)

    @settings(STEADY, max_examples=60 * SCALE)
    @given(arguments=ARGUMENTS)
    def test_assess(self, arguments, tmp_path_factory) -> None:
        with contextlib.chdir(tmp_path_factory.getbasetemp()):
            self.check(call(["assess", "--quick", "-m", "dummy", *arguments]), arguments)

    def check(self, result: tuple[int, str, str], arguments: list[str]) -> None:
        code, out, err = result
        assert code in (0, 1, 2), err
        assert "Traceback" not in err
        if code == 2:
            assert out == ""
            assert err
            if "--json" in arguments:
                assert json.loads(err)["error"]["message"]
        elif "--json" in arguments and "--help" not in arguments and "--" not in arguments:
            json.loads(out)


@pytest.mark.parametrize("level", ["0", "1", "-1", "2", "nan", "inf", "95", "x", ""])
def test_levels(level) -> None:
    code, out, err = call(["assess", "iris", "--quick", "--level", level, "-m", "dummy"])
    assert (code, out) == (2, "")
    assert "level" in err
