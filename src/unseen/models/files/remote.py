"""A model that lives in another process, seen from here: it answers like the fitted object, with arrays only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unseen.core.arrays import Array, Floats
from unseen.core.errors import InputError
from unseen.models.files.frames import table_parts
from unseen.models.files.sandbox import ModelProcessError, Sandbox

__all__ = ["RemoteModel"]


class _Remote:
    """What the whole model and the steps of a pipeline share."""

    def __init__(self, sandbox: Sandbox, part: str, can: Sequence[str], labels: Array | None) -> None:
        self._sandbox, self._part, self._can = sandbox, part, tuple(can)
        if labels is not None:
            self.classes_ = labels

    def _ask(self, what: str, X: Any) -> tuple[dict[str, Any], Array]:
        message, arrays = table_parts(X)
        answer, results = self._sandbox.ask({"do": what, "part": self._part, **message}, arrays)
        if len(results) != 1 or len(results[0]) != X.shape[0]:
            raise ModelProcessError(f"the model's process answered {what} with the wrong number of rows.")
        return answer, results[0]

    def __getattr__(self, name: str) -> Any:
        if name in ("predict_proba", "decision_function") and name in self.__dict__.get("_can", ()):
            return lambda X: self._ask(name, X)[1]
        raise AttributeError(f"{type(self).__name__} has no {name!r}")


class _Transformers(_Remote):
    """The steps of a pipeline before the last."""

    def transform(self, X: Any) -> Floats:
        """Return the features as the last step sees them."""
        return self._ask("transform", X)[1]


class _RemoteClassifier(_Remote):
    """Something that predicts; `coef_` and `intercept_` are there if the model is linear."""

    def __init__(self, sandbox: Sandbox, part: str, can: Sequence[str], labels: Array | None, linear: bool) -> None:
        super().__init__(sandbox, part, can, labels)
        if linear:
            self.coef_, self.intercept_ = sandbox.ask({"do": "linear", "part": part})[1]

    def predict(self, X: Any) -> Array:
        """Return one label or number per row."""
        answer, values = self._ask("predict", X)
        labels = getattr(self, "classes_", None)
        if answer.get("labels") is False and labels is not None:
            return np.asarray(labels[values])
        return values


class RemoteModel(_RemoteClassifier):
    """A trained model from a file.

    It has `predict`, and `predict_proba`, `decision_function`, `classes_`, `n_features_in_`, `coef_` and `intercept_` where
    the model in the file has them; a pipeline also has `steps`, its transformers and its last step apart. No object of the
    file ever comes into this process.

    Parameters
    ----------
    sandbox : Sandbox
        The process that holds the model.
    classes : sequence or None
        Labels for a graph that only has numbers.
    """

    reads_shapes = False
    from_file = True  # kernels live in standardised columns unless the file shows its own scaling

    def __init__(self, sandbox: Sandbox, classes: Sequence[Any] | None = None) -> None:
        about = sandbox.description
        labels = _labels(about, classes)
        piped = len(about["steps"]) > 1
        super().__init__(sandbox, "all", about["can"], labels, about["linear"] and not piped)
        self.name: str = str(about["name"])
        self.kind_name: str = str(about["kind"])
        self.kernel: str = str(about["kernel"])
        if about["n_features"] is not None:
            self.n_features_in_: int = int(about["n_features"])
        if not about["classifier"]:
            self._estimator_type = "regressor"
        if piped:
            # classes named like the steps, so that results say what the features went through
            before = [
                type(str(kind), (_Transformers,), {})(sandbox, "before", (), None) for kind in about["kinds"][:-1]
            ]
            last: _RemoteClassifier = type(str(about["kinds"][-1]), (_RemoteClassifier,), {})(
                sandbox, "final", about["can_final"], labels, about["linear"]
            )
            self.steps: list[tuple[str, Any]] = list(zip(about["steps"], [*before, last]))
            self.named_steps: dict[str, Any] = dict(self.steps)

    def __getitem__(self, index: int | slice) -> Any:
        """Return the last step, or with [:-1] everything before it, as a scikit-learn pipeline does."""
        if not hasattr(self, "steps") or index not in (-1, slice(None, -1)):
            raise InputError("a model file can be taken apart into model[:-1] and model[-1] of a pipeline only.")
        return self.steps[-1][1] if index == -1 else self.steps[0][1]

    def linear(self) -> tuple[Floats, Floats] | None:
        """Return coefficients and intercepts of a linear model (of a pipeline: of its last step), or None."""
        final = self.steps[-1][1] if hasattr(self, "steps") else self
        return (final.coef_, final.intercept_) if "coef_" in final.__dict__ else None

    def close(self) -> None:
        """End the model's process."""
        self._sandbox.close()

    def __enter__(self) -> RemoteModel:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteModel({self.name})"


def _labels(about: dict[str, Any], given: Sequence[Any] | None) -> Array | None:
    own = about["classes"]
    if given is None:
        return None if own is None else np.asarray(own)
    if about.get("named", True):
        raise InputError("classes was given, but the model file names its own labels; leave it out.")
    if len(given) != about.get("columns", 0):
        count = about.get("columns", 0) or "none"
        raise InputError(f"classes has {len(given)} labels; the graph has {count} columns of scores.")
    return np.asarray(given)
