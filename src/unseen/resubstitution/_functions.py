"""Generalized resubstitution as functions of a model that is trained already, one per method.

Signatures and docstrings come from the methods; `_functions.pyi` states them for type checkers.
"""

from __future__ import annotations

from unseen.resubstitution._method_function import method_function

__all__ = [
    "bayesian",
    "bolster",
    "bolster_posterior",
    "bolster_posterior_accuracy",
    "bolster_posterior_product",
    "calibrated_bolster",
    "calibrated_naive_bayes_bolster",
    "naive_bayes_bolster",
    "posterior",
    "resub",
    "semi_bolster",
]

resub = method_function(
    "resub",
    __name__,
    """\
>>> unseen.resubstitution.resub(fitted, X, y).value
0.165""",
)
bolster = method_function(
    "bolster",
    __name__,
    """\
>>> e = unseen.resubstitution.bolster(fitted, X, y, kernel="spherical", average="points")
>>> 0.15 < e.value < 0.3, e.contributions.shape
(True, (200,))""",
)
semi_bolster = method_function(
    "semi-bolster",
    __name__,
    """\
>>> unseen.resubstitution.semi_bolster(fitted, X, y).value > unseen.resubstitution.bolster(fitted, X, y).value
True""",
)
naive_bayes_bolster = method_function(
    "naive-bayes-bolster",
    __name__,
    """\
>>> unseen.resubstitution.naive_bayes_bolster(fitted, X, y).integration
'exact'""",
)
calibrated_bolster = method_function(
    "calibrated-bolster",
    __name__,
    """\
>>> unseen.resubstitution.calibrated_bolster(fitted, X, y, r=2, search="root", random_state=0).curve.shape[1]
3""",
)
calibrated_naive_bayes_bolster = method_function(
    "calibrated-naive-bayes-bolster",
    __name__,
    """\
>>> unseen.resubstitution.calibrated_naive_bayes_bolster(fitted, X, y, r=2, random_state=0).kappa >= 1
True""",
)
posterior = method_function(
    "posterior",
    __name__,
    """\
>>> unseen.resubstitution.posterior(fitted, X, y, k=1).value == unseen.resubstitution.resub(fitted, X, y).value
True""",
)
bolster_posterior = method_function(
    "bolster-posterior",
    __name__,
    """\
>>> 0.1 < unseen.resubstitution.bolster_posterior(fitted, X, y, random_state=0).value < 0.3
True""",
)
bolster_posterior_product = method_function(
    "bolster-posterior-product",
    __name__,
    """\
>>> unseen.resubstitution.bolster_posterior_product(fitted, X, y).notes[0].title
'printed form'""",
)
bolster_posterior_accuracy = method_function(
    "bolster-posterior-accuracy",
    __name__,
    """\
>>> 0.2 < unseen.resubstitution.bolster_posterior_accuracy(fitted, X, y, posterior="model").value < 0.6
True""",
)
bayesian = method_function(
    "bayesian",
    __name__,
    """\
>>> 0.1 < unseen.resubstitution.bayesian(fitted, X, y).value < 0.3
True""",
)
