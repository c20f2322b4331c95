"""Numbers of other packages on stored inputs, for the tests of intervals and comparisons.

Run with the peers' interpreter (`make oracles`); writes comparisons.json beside this file, with the versions used.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "mlxtend",
    "baycomp",
    "statsmodels",
    "scikit-posthocs",
    "confidenceinterval",
)


def discordant() -> list[dict]:
    """McNemar's test: two packages, the second also without continuity correction; mid-p by scipy's binomial."""
    from mlxtend.evaluate import mcnemar as mlxtend_mcnemar
    from scipy.stats import binom
    from statsmodels.stats.contingency_tables import mcnemar

    out = []
    for b, c in [(5, 15), (10, 10), (0, 6), (1, 0), (33, 60), (120, 95)]:
        table = np.array([[40, b], [c, 30]])
        k, n = min(b, c), b + c
        out.append(
            {
                "b": b,
                "c": c,
                "statsmodels": float(mcnemar(table, exact=True).pvalue),
                "mlxtend": float(mlxtend_mcnemar(table, exact=True)[1]),
                "mid_p": float(min(1.0, 2 * binom.cdf(k - 1, n, 0.5) + binom.pmf(k, n, 0.5))),
            }
        )
    return out


def five_by_two() -> dict:
    """mlxtend's 5x2 t and F on two scikit-learn models, with the splits it draws and both models' predictions."""
    from mlxtend.evaluate import combined_ftest_5x2cv, paired_ttest_5x2cv
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:80], y[:80]
    models = [DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB()]
    t, p = paired_ttest_5x2cv(*models, X, y, random_seed=3)
    f, f_p = combined_ftest_5x2cv(*models, X, y, random_seed=3)
    rng, splits, predictions = np.random.RandomState(3), [], [[], []]
    for _ in range(5):
        halves = train_test_split(np.arange(len(y)), test_size=0.5, random_state=rng.randint(low=0, high=32767))
        for train, test in (halves, halves[::-1]):
            splits.append([train.tolist(), test.tolist()])
            for k, model in enumerate(models):
                predictions[k].append(model.fit(X[train], y[train]).predict(X[test]).tolist())
    return {
        "y": y.tolist(),
        "splits": splits,
        "predictions": predictions,
        "t": float(t),
        "t_p": float(p),
        "f": float(f),
        "f_p": float(f_p),
    }


def resampled() -> dict:
    """mlxtend's uncorrected resampled t, with its splits; the corrected one has no peer that is right."""
    from mlxtend.evaluate import paired_ttest_resampled
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_iris(return_X_y=True)
    models = [DecisionTreeClassifier(max_depth=1, random_state=0), GaussianNB()]
    t, p = paired_ttest_resampled(*models, X, y, num_rounds=12, test_size=0.3, random_seed=5)
    rng, differences = np.random.RandomState(5), []
    for _ in range(12):
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=rng.randint(low=0, high=32767))
        a, b = (model.fit(X[train], y[train]).score(X[test], y[test]) for model in models)
        differences.append(b - a)
    return {"differences": differences, "n_test": 45, "n_train": 105, "t": float(t), "p": float(p)}


def correlated_t() -> list[dict]:
    """baycomp's posterior for ten rounds of ten folds, and for random splits, where it has no test fraction."""
    import baycomp

    rng = np.random.default_rng(0)
    out = []
    for runs, folds, shift, rope in [
        (10, 10, 0.01, 0.01),
        (1, 10, 0.0, 0.02),
        (5, 5, -0.03, 0.005),
        (1, 30, 0.02, 0.01),
    ]:
        errors_a = rng.normal(0.2, 0.03, runs * folds)
        errors_b = errors_a - shift + rng.normal(0, 0.02, runs * folds)
        below, inside, above = baycomp.two_on_single(errors_a, errors_b, rope=rope, runs=runs)
        out.append(
            {
                "differences": (errors_a - errors_b).tolist(),
                "runs": runs,
                "folds": folds,
                "rope": rope,
                "posterior": [float(below), float(inside), float(above)],
            }
        )
    return out


def signed_ranks() -> list[dict]:
    """scipy's signed-rank p-values: exact without ties, exact by all sign patterns with ties, normal for many."""
    from scipy.stats import PermutationMethod, wilcoxon

    rng = np.random.default_rng(1)
    tied = np.array([1, 1, 2, -2, 3, -1, 4, 4, -3, 5, 2, 2.0])
    many = np.round(rng.normal(0.15, 1, 250), 1)
    cases = [
        (rng.normal(0.3, 1, 15), {"method": "exact"}),
        (rng.normal(0.2, 1, 60), {"method": "exact"}),
        (tied, {"method": PermutationMethod(n_resamples=np.inf)}),
        (many, {"method": "approx", "correction": False}),
    ]
    out = []
    for values, options in cases:
        result = wilcoxon(values, **options)
        out.append({"differences": values.tolist(), "statistic": float(result.statistic), "p": float(result.pvalue)})
    pratt = np.where(rng.random(40) < 0.3, 0.0, rng.normal(0.4, 1, 40))
    exact = wilcoxon(pratt, zero_method="pratt", method=PermutationMethod(n_resamples=200_000, rng=rng))
    return [
        *out,
        {
            "differences": pratt.tolist(),
            "zeros": "pratt",
            "statistic": float(exact.statistic),
            "p": float(exact.pvalue),
            "random": True,
        },
    ]


def sign_flips() -> list[dict]:
    """scipy's paired permutation test, exact."""
    from scipy.stats import permutation_test

    rng = np.random.default_rng(2)
    out = []
    for values in (
        rng.normal(0.5, 1, 10),
        np.array([1.0, 2, 2, -1, 3, 0, 0, 4]),
        np.array([1.0, -1, 1, 1, 1, 1, 0, 1]),
    ):
        result = permutation_test(
            (values, np.zeros(len(values))), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
        )
        out.append({"differences": values.tolist(), "p": float(result.pvalue)})
    return out


def many_sets() -> dict:
    """scipy's Friedman chi-square, with ties, and scikit-posthocs' Nemenyi; statsmodels' adjustments."""
    import scikit_posthocs
    from scipy.stats import friedmanchisquare
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(3)
    errors = np.round(rng.random((14, 4)) * 0.2 + [0.1, 0.12, 0.2, 0.14], 2)
    chi2, p = friedmanchisquare(*errors.T)
    raw = [0.001, 0.04, 0.03, 0.03, 0.5, 0.0002]
    return {
        "errors": errors.tolist(),
        "chi2": float(chi2),
        "p": float(p),
        "nemenyi": scikit_posthocs.posthoc_nemenyi_friedman(errors).to_numpy().tolist(),
        "raw": raw,
        "holm": multipletests(raw, method="holm")[1].tolist(),
        "benjamini_hochberg": multipletests(raw, method="fdr_bh")[1].tolist(),
    }


def rates() -> list[dict]:
    """statsmodels' score and exact intervals of a proportion."""
    from statsmodels.stats.proportion import proportion_confint

    out = []
    for count, size, level in [(3, 40, 0.95), (0, 25, 0.95), (25, 25, 0.9), (117, 300, 0.99)]:
        out.append(
            {
                "count": count,
                "size": size,
                "level": level,
                "wilson": [float(v) for v in proportion_confint(count, size, 1 - level, "wilson")],
                "clopper_pearson": [float(v) for v in proportion_confint(count, size, 1 - level, "beta")],
            }
        )
    return out


def areas() -> dict:
    """scikit-learn's areas, and confidenceinterval's DeLong interval, from which its standard error follows."""
    from confidenceinterval import roc_auc_score as interval_of
    from scipy.stats import norm
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 60)
    scores = [np.round(y + rng.normal(0, 1.2, 60), 1), np.round(0.5 * y + rng.normal(0, 1, 60), 1)]
    ends = [interval_of(y, s, confidence_level=0.5)[1] for s in scores]
    half = norm.ppf(0.75)
    return {
        "y": y.tolist(),
        "scores": [s.tolist() for s in scores],
        "areas": [float(roc_auc_score(y, s)) for s in scores],
        "std_errors": [float((high - low) / (2 * half)) for low, high in ends],
    }


def make() -> dict:
    """Return every oracle with the versions that made it."""
    return {
        "versions": {"python": sys.version.split()[0], **{name: version(name) for name in PACKAGES}},
        "mcnemar": discordant(),
        "five_by_two": five_by_two(),
        "resampled_t": resampled(),
        "correlated_t": correlated_t(),
        "wilcoxon": signed_ranks(),
        "permutation": sign_flips(),
        "many_sets": many_sets(),
        "rates": rates(),
        "delong": areas(),
    }


def main() -> None:
    """Write the file."""
    (HERE / "comparisons.json").write_text(json.dumps(make(), indent=1) + "\n")


if __name__ == "__main__":
    main()
