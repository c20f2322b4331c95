"""A model from an ONNX file, as it answers inside the sandbox; onnxruntime runs it on one thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.models.files.frames import table_of

__all__ = ["OnnxAnswers"]

KINDS = {
    "tensor(double)": np.float64,
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}


class OnnxAnswers:
    """Runs the graph and reads its outputs as labels, probabilities, decision values or numbers.

    A one-dimensional integer or text output is the label; a map from label to probability, or a table with a column per
    class, is the score. A graph with a single table of K > 1 columns predicts the class of the largest one.
    """

    def __init__(self, content: bytes) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.use_deterministic_compute = True
        self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self.inputs = self.session.get_inputs()
        self.width = self._width()
        for one in self.inputs:
            if one.type not in KINDS and one.type != "tensor(string)":
                raise ValueError(f"the input {one.name!r} is a {one.type}, which is not a table of numbers or text")

    def _width(self) -> int | None:
        if len(self.inputs) > 1:
            return len(self.inputs)
        shape = self.inputs[0].shape
        if len(shape) != 2:
            raise ValueError(
                f"the input {self.inputs[0].name!r} has the shape {shape}; a table of rows and columns is needed"
            )
        return shape[1] if isinstance(shape[1], int) else None

    def describe(self) -> dict[str, Any]:
        """Return what the graph can do, learned from one run on a row of zeros if the number of columns is known."""
        if self.width is None:
            label, score, classes = None, None, None
        else:
            label, score, classes = self._run(np.zeros((1, self.width)))
        columns = 0 if score is None else score.shape[1]
        several = columns > 1
        # a graph that says its labels as text has columns in their order, and does not list them
        in_words = label is not None and label.dtype.kind == "U"
        name = "predict_proba" if several and _is_probability(score) else "decision_function"
        return {
            "name": f"ONNX graph {self.session.get_modelmeta().graph_name}".strip()[:200],
            "kind": "ONNX",
            "kernel": "",
            "classes": classes if classes is not None else (list(range(columns)) if several and not in_words else None),
            "named": classes is not None,
            "columns": columns,
            "classifier": bool(label is not None or several or self.width is None),
            "n_features": self.width,
            "can": [name] if several else [],
            "steps": [],
            "linear": False,
        }

    def answer(self, message: dict[str, Any], arrays: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """Return labels, column numbers of the largest score, scores, or numbers."""
        label, score, _ = self._run(table_of(message, arrays))
        if message["do"] != "predict":
            return {}, [score]
        if label is not None:
            return {"labels": True}, [label]
        if score.shape[1] == 1:
            return {"labels": True}, [score[:, 0]]
        return {"labels": False}, [score.argmax(axis=1)]

    def _run(self, X: Any) -> tuple[Any, Any, list[Any] | None]:
        outputs = self.session.run(None, self._feed(X))
        label = score = classes = None
        for value in outputs:
            if isinstance(value, list) and value and isinstance(value[0], dict):
                classes = list(value[0])
                score = np.array([[row[c] for c in classes] for row in value], dtype=float)
            elif isinstance(value, np.ndarray) and value.dtype.kind in "iuUSO" and value.size == len(value):
                label = value.reshape(-1).astype(str) if value.dtype.kind in "USO" else value.reshape(-1)
            elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim <= 2:
                score = np.asarray(value, dtype=float).reshape(len(value), -1)
        if label is None and score is None:
            raise ValueError("the graph has no output that reads as labels, scores or numbers")
        return label, score, classes

    def _feed(self, X: Any) -> dict[str, Any]:
        if len(self.inputs) == 1:
            one = self.inputs[0]
            values = X.to_numpy() if hasattr(X, "to_numpy") else (X.toarray() if hasattr(X, "toarray") else X)
            return {one.name: _cast(values, one.type)}
        if hasattr(X, "columns"):
            missing = [one.name for one in self.inputs if one.name not in X.columns]
            if missing:
                raise ValueError(f"the graph needs the columns {missing}, which the data do not have")
            return {one.name: _cast(X[one.name].to_numpy()[:, None], one.type) for one in self.inputs}
        return {one.name: _cast(X[:, [k]], one.type) for k, one in enumerate(self.inputs)}


def _cast(values: Any, kind: str) -> Any:
    return values.astype(str).astype(object) if kind == "tensor(string)" else np.ascontiguousarray(values, KINDS[kind])


def _is_probability(score: Any) -> bool:
    return bool(np.all(score >= 0) and np.allclose(score.sum(axis=1), 1, atol=1e-3))
