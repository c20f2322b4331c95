"""The figures of the gallery: what each one shows, the guide it belongs to, and the code that draws it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import unseen

PAGE = Path(__file__).parent / "guides" / "gallery.md"


@cache
def tumours() -> Any:
    """Return the tumours of Wisconsin, four columns, so that there is something left to get wrong."""
    data = unseen.datasets.load("breast-cancer")
    return unseen.datasets.as_data(data.X[:, :4], data.y)


@cache
def assessment() -> Any:
    """Return an assessment of a logistic regression."""
    return unseen.assess("logistic", tumours(), random_state=0, effort="quick")


@cache
def probabilities() -> Any:
    """Return the measures of out-of-fold probabilities of naive Bayes."""
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    X, y = tumours().xy
    p = cross_val_predict(GaussianNB(), X, y, cv=10, method="predict_proba")[:, 1]
    return unseen.measure(y, p, positive="malignant", random_state=0)


@cache
def comparison() -> Any:
    """Return a comparison of three models."""
    return unseen.compare(["lda", "cart", "naive-bayes"], *tumours().xy, test="corrected-t", random_state=0)


@cache
def diagnosis() -> Any:
    """Return a diagnosis of a linear discriminant on flowers."""
    return unseen.diagnose("lda", unseen.datasets.load("iris"), random_state=0, effort="quick")


def headline() -> Any:
    return assessment().plot()


def slices() -> Any:
    X, y = tumours().xy
    return unseen.assess("logistic", X, y, by={"texture:4": X[:, 1]}, effort="quick", random_state=0).slices.plot()


def roc() -> Any:
    return probabilities().roc().plot()


def precision_recall() -> Any:
    return probabilities().precision_recall().plot()


def calibration() -> Any:
    return probabilities().calibration().plot()


def decision_curve() -> Any:
    return probabilities().decision_curve().plot()


def confusion() -> Any:
    X, y = unseen.datasets.load("wine").xy
    return unseen.measure(unseen.run("cart", X, y, scores=True, random_state=0), random_state=0).confusion().plot()


def difference() -> Any:
    return comparison().plot()


def critical_difference() -> Any:
    rng = np.random.default_rng(0)
    means = {"svm": 0.10, "forest": 0.11, "tree": 0.14, "neighbours": 0.15, "guess": 0.40}
    return unseen.rank({name: rng.normal(mean, 0.03, 15) for name, mean in means.items()}).plot()


def distribution() -> Any:
    from sklearn.linear_model import LinearRegression

    X, y = unseen.datasets.load("diabetes").xy
    return unseen.distribution(LinearRegression(), X, y, fraction=0.25, n_splits=500, random_state=0).plot()


def importance() -> Any:
    return diagnosis().plot("diagnosis-importance")


def learning_curve() -> Any:
    return diagnosis().plot("diagnosis-curve")


def power() -> Any:
    return unseen.power(n=300, difference=0.03, disagreement=0.2).plot()


def kernels() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    flowers = unseen.datasets.load("iris").xy
    model = KNeighborsClassifier(3).fit(*flowers)
    return unseen.resubstitution.view(model, *flowers, plane=(2, 3), random_state=0).plot()


def calibrated() -> Any:
    from sklearn.svm import SVC

    X, y = unseen.datasets.load("gaussian-blocks").xy
    model = SVC().fit(X, y)
    return unseen.resubstitution.calibrated_bolster(model, X, y, search="root", random_state=0).plot()


@cache
def tracer() -> Any:
    """Return the fit of one simulated subject."""
    study = unseen.kinetics.simulate(subjects=1, noise=0.03, random_state=0)
    return unseen.kinetics.fit(study.ttr, study.doses, scheme=unseen.kinetics.PHE_TYR)["s1"]


def curves() -> Any:
    return tracer().plot()


def pools() -> Any:
    return tracer().plot("pools-ec-ec")


def checkpoints() -> Any:
    from unseen.nets import bench_of
    from unseen.nets.ranking.bench import read_rows

    zoo = Path(__file__).parents[1] / "studies" / "zoo"
    wanted = ("always-generalize", "pal-score", "par-search", "dbi-mixup", "path-norm", "random-order")
    rows = [row for row in read_rows(zoo / "measures_cifar-vgg.csv") if row.measure in wanted]
    return bench_of(zoo / "networks_cifar-vgg.csv", rows).plot()


# figure, its question, the line below it, its guide
FIGURES: tuple[tuple[Callable[[], Any], str, str, str], ...] = (
    (headline, "How good is my model?", "The error on new cases with its interval, beside guessing.", "quickstart"),
    (slices, "For whom is it worse?", "The error in each slice; all intervals hold together.", "measuring"),
    (roc, "Does it rank cases well?", "The ROC curve with a band that holds the whole of it.", "measuring"),
    (precision_recall, "Precision against recall", "One point for every score.", "measuring"),
    (calibration, "Are the probabilities right?", "Observed against predicted, with a band.", "measuring"),
    (decision_curve, "Is it worth acting on?", "Net benefit beside treating all and none.", "measuring"),
    (confusion, "Which class is taken for which?", "Counts of out-of-fold predictions.", "measuring"),
    (difference, "Is A better than B?", "Differences of three models with intervals.", "comparing"),
    (critical_difference, "Which is best over many data sets?", "Mean ranks; bars join ties.", "comparing"),
    (distribution, "How much luck is in one split?", "The error over 500 splits.", "distribution"),
    (importance, "Which columns matter?", "What the error gains if a column is permuted.", "diagnosing"),
    (learning_curve, "How many rows?", "The error by training size, and beyond.", "diagnosing"),
    (power, "Will a difference show?", "Power by the number of test cases.", "planning"),
    (kernels, "No test set?", "Training points spread over kernels, and the regions of the model.", "resubstitution"),
    (calibrated, "How wide should kernels be?", "The factor at which the bias vanishes.", "resubstitution"),
    (checkpoints, "Which checkpoint?", "How well measures order 96 nets; grey is noise.", "checkpoints"),
    (curves, "Tracer curves", "Three curves of one subject, fitted together.", "kinetics"),
    (pools, "Pools and fluxes", "Rates, pools and fluxes that balance.", "kinetics"),
)


def page() -> str:
    """Return the text of the page."""
    lines = [
        "# Gallery",
        "",
        "<!-- Written by docs/gallery.py: change the list there. -->",
        "",
        "Each figure was drawn by the software of today from data that come with it (`docs/gallery.py` has the code); it leads to its guide.",
        "",
        ":::{container} cards gallery",
        *_cards(FIGURES),
        ":::",
        "",
    ]
    return "\n".join(lines)


def _cards(figures: tuple[tuple[Callable[[], Any], str, str, str], ...]) -> Iterator[str]:
    for draw, question, line, guide in figures:
        yield f"- [![{question}](../images/gallery/{draw.__name__}.png)]({guide}.md)\n\n  [**{question}**]({guide}.md) {line}"


def write_gallery() -> None:
    """Write the page unless it is up to date."""
    if not PAGE.exists() or PAGE.read_text() != page():
        PAGE.write_text(page())
