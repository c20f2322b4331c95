"""Error estimation without retraining: generalized resubstitution, one method per file, one function per method.

`bolster(fitted, X, y)` and its siblings take a model that is trained already and never refit it.
"""

import sys
from types import ModuleType
from typing import Any

from unseen.core.lazy import attach

_BOLSTERED = (
    "bolster",
    "calibrated_bolster",
    "calibrated_naive_bayes_bolster",
    "naive_bayes_bolster",
    "semi_bolster",
)
_OTHERS = (
    "bayesian",
    "bolster_posterior",
    "bolster_posterior_accuracy",
    "bolster_posterior_product",
    "posterior",
    "resub",
)

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "CalibratedEstimate": "unseen.resubstitution._result",
        "Deviations": "unseen.resubstitution._deviations",
        "KernelView": "unseen.resubstitution._view",
        "SmoothedEstimate": "unseen.resubstitution._result",
        **dict.fromkeys(_BOLSTERED, "unseen.resubstitution._bolster"),
        **dict.fromkeys(_OTHERS, "unseen.resubstitution._functions"),
        "deviations": "unseen.resubstitution._deviations",
        "scorer": "unseen.resubstitution._scorer",
        "view": "unseen.resubstitution._view",
        "whole_sample": "unseen.resubstitution._scorer",
        "kernels": "",
    },
)


class _Package(ModuleType):
    """Keeps a function visible when the method file of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _BOLSTERED + _OTHERS and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
