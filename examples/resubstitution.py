"""Assess a trained model without training anything: the whole family, the hardest points, and a comparison of two models."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import unseen
from unseen import resubstitution


def main() -> None:
    data = unseen.datasets.load("breast-cancer")
    X, y = data.X[:100], data.y[:100]
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)

    print(f"{'method':28} {'error':>7} {'integration error':>18}")
    for name in (
        "resub",
        "bolster",
        "semi_bolster",
        "posterior",
        "bolster_posterior",
        "naive_bayes_bolster",
        "bayesian",
    ):
        e = getattr(resubstitution, name)(model, X, y, random_state=0)
        print(f"{e.method:28} {e.value:7.4f} {e.mc_error:18.4f}")

    e = resubstitution.bolster(model, X, y, random_state=0)
    print(f"\nkernels live {e.space}; rows with the largest contribution:")
    for i in e.contributions.argsort()[::-1][:5]:
        print(f"  row {i}: {y[i]}, {e.contributions[i]:.2f}")

    c = resubstitution.calibrated_bolster(model, X, y, search="root", random_state=0)
    print(
        f"\ncalibrated: {c.uncalibrated:.4f} -> {c.value:.4f} with kernels {c.kappa:.2f} times as wide ({c.n_fits} fits)"
    )

    # the same kernel points for both models, in the same space: the difference is sharper than either error
    other = make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(X, y)
    a, b = (resubstitution.bolster(m, X, y, draws=1) for m in (model, other))
    print(f"\n5NN minus SVM on the same kernel points: {b.value - a.value:+.4f}")


if __name__ == "__main__":
    main()
