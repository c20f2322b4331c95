"""What a skops file may hold: types of scikit-learn, numpy and scipy that were reviewed; everything else is listed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

__all__ = ["LOADERS", "REVIEWED", "strangers"]

# Kinds of node that rebuild plain state. Left out on purpose: methods, partials, operators and reduce nodes, which call
# what the file names.
LOADERS = frozenset(
    {
        "DTypeNode", "DefaultDictNode", "DictNode", "FunctionNode", "JsonNode", "ListNode", "LossNode", "MaskedArrayNode",
        "NdArrayNode", "ObjectNode", "RandomGeneratorNode", "RandomStateNode", "SetNode", "SliceNode", "SparseMatrixNode",
        "TreeNode", "TupleNode", "TypeNode", "CachedNode",
    }
)  # fmt: skip

# Types skops does not trust by itself but whose state is arrays, numbers and other types of this list: trees and neighbour
# structures (compiled; a damaged one can crash the model's own process, nothing more), losses, kernels, calibrators.
REVIEWED = frozenset(
    {
        "numpy.dtype",
        "sklearn._loss.loss.HalfTweedieLossIdentity",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.cluster._bisect_k_means._BisectingTree",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.feature_selection._mutual_info.mutual_info_classif",
        "sklearn.feature_selection._mutual_info.mutual_info_regression",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.feature_selection._univariate_selection.f_regression",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        *(
            f"sklearn.gaussian_process.kernels.{kernel}"
            for kernel in (
                "CompoundKernel",
                "ConstantKernel",
                "DotProduct",
                "ExpSineSquared",
                "Exponentiation",
                "Hyperparameter",
                "Matern",
                "Product",
                "RBF",
                "RationalQuadratic",
                "Sum",
                "WhiteKernel",
            )
        ),
        *(
            f"sklearn.metrics._dist_metrics.{metric}Distance{bits}"
            for metric in ("Chebyshev", "Euclidean", "Hamming", "Manhattan", "Minkowski", "SEuclidean")
            for bits in (32, 64)
        ),
        "sklearn.metrics._scorer._PassthroughScorer",
        *(
            f"sklearn.model_selection._split.{splitter}"
            for splitter in (
                "GroupKFold",
                "KFold",
                "RepeatedKFold",
                "RepeatedStratifiedKFold",
                "ShuffleSplit",
                "StratifiedGroupKFold",
                "StratifiedKFold",
                "StratifiedShuffleSplit",
                "TimeSeriesSplit",
            )
        ),
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._ball_tree.BallTree64",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neighbors._kd_tree.KDTree64",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
    }
)

HOMES = frozenset({"builtins", "collections", "numpy", "scipy", "sklearn"})


def strangers(schema: Any, untrusted: Collection[str], trusted: Collection[str]) -> list[str]:
    """Return what a file holds beyond the reviewed list and the types the caller trusts.

    Parameters
    ----------
    schema : dict
        The file's `schema.json`.
    untrusted : collection of str
        What skops itself does not trust in the file.
    trusted : collection of str
        Types the caller vouches for, by their full name.

    Examples
    --------
    >>> node = {"__class__": "system", "__module__": "posix", "__loader__": "FunctionNode", "__id__": 1}
    >>> strangers({"content": [node]}, ["posix.system"], [])
    ['posix.system']
    >>> strangers({"content": [node]}, ["posix.system"], ["posix.system"])
    []
    """
    found = {name for name in untrusted if name not in REVIEWED}
    for node in _nodes(schema):
        module, loader = str(node.get("__module__", "")), str(node["__loader__"])
        if module.split(".")[0] not in HOMES or loader not in LOADERS:
            found.add(f"{module}.{node.get('__class__')}")
    return sorted(found - set(trusted))


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every node of a schema, without recursion: a hostile file may nest deeply."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
