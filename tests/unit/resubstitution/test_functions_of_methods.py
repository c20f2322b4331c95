"""Functions made from methods: real signatures and docstrings, the same as the stub states, the same numbers as `estimate`."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import get_type_hints

import pytest
from sklearn.linear_model import LogisticRegression

import unseen
from unseen.core.errors import InputError, UnknownName
from unseen.core.registry import classes_in, find, options_of
from unseen.resubstitution import _functions
from unseen.resubstitution._method_function import method_function

X, Y = unseen.datasets.load("gaussian-blocks").xy
FITTED = LogisticRegression().fit(X, Y)
NAMES = _functions.__all__


def method_of(name):
    return find(name.replace("_", "-"), "resubstitution")


def test_every_direct_method_has_a_function():
    direct = [name.replace("-", "_") for name, cls in classes_in("resubstitution").items() if cls.kind == "direct"]
    assert sorted(direct) == sorted(NAMES)
    assert set(NAMES) <= set(unseen.resubstitution.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_states_the_signature(name):
    tree = ast.parse(Path(_functions.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    stated = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    made = inspect.signature(getattr(_functions, name))
    keywords = [p for p in made.parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert [a.arg for a in stated.args.args] == ["fitted", "X", "y"]
    assert [a.arg for a in stated.args.kwonlyargs] == [p.name for p in keywords]
    assert [ast.literal_eval(d) for d in stated.args.kw_defaults] == [p.default for p in keywords]
    types = method_of(name).__annotations__ | {
        k: v for base in method_of(name).__mro__ for k, v in vars(base).get("__annotations__", {}).items()
    }
    options = {a.arg: ast.unparse(a.annotation) for a in stated.args.kwonlyargs[2:]}
    assert options == {option: types[option] for option in options_of(method_of(name))}
    assert ast.unparse(stated.returns) == get_type_hints(method_of(name).__call__)["return"].__name__


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_documented(name):
    function = getattr(unseen.resubstitution, name)
    text = inspect.getdoc(function)
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.kind is not parameter.VAR_KEYWORD
        assert f"\n{parameter.name} : " in text, f"{name}: {parameter.name}"
    assert "As in `" not in text
    assert f"unseen.resubstitution.{name}(" in text
    assert (function.__name__, function.__module__) == (name, "unseen.resubstitution._functions")


def test_an_option_without_a_text_is_refused(monkeypatch):
    monkeypatch.setattr(method_of("resub"), "__doc__", "Mean loss.")
    with pytest.raises(LookupError, match="'loss' is not documented"):
        method_function("resub", __name__, "")


def test_functions_give_the_numbers_of_estimate():
    made = unseen.resubstitution.bolster(FITTED, X, Y, exact=False, random_state=3)
    same = unseen.estimate(FITTED, X, Y, method="bolster", exact=False, fitted=True, random_state=3)
    assert (made.value, made.n_fits) == (same.value, 0)


def test_what_is_wrong_is_refused_by_name():
    with pytest.raises(UnknownName, match="option of 'bolster'"):
        unseen.resubstitution.bolster(FITTED, X, Y, kernal="full")
    with pytest.raises(InputError, match="bayesian has no weighted form"):
        unseen.resubstitution.bayesian(FITTED, X, Y, sample_weight=[1.0] * len(Y))
