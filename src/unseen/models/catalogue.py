"""The learners that have a name: class, settings, and what the features must look like for them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from unseen.core.data import Task

__all__ = ["CATALOGUE", "Entry"]


def _settings(**values: Any) -> MappingProxyType[str, Any]:
    return MappingProxyType(values)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A learner under a short name.

    Parameters
    ----------
    name, description : str
        What the user types, and a line about it.
    classifier, regressor : str
        "module:Class" within scikit-learn; empty if the learner does not do that task.
    settings : mapping
        Parameters that differ from scikit-learn's defaults.
    first : str
        Parameter that a bare value after the colon sets, as in `knn:3`.
    scaled : bool
        Whether features are standardised before it.
    sparse, missing : bool
        Whether it takes sparse features, and missing values, as they are.
    scaled_target : bool
        Whether a regression target is standardised inside the fit.
    """

    name: str
    description: str
    classifier: str = ""
    regressor: str = ""
    settings: MappingProxyType[str, Any] = field(default_factory=_settings)
    first: str = ""
    scaled: bool = False
    sparse: bool = True
    missing: bool = False
    scaled_target: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled; a read-only view of a mapping cannot be."""
        return self.__dict__ | {"settings": dict(self.settings)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, settings=_settings(**state["settings"]))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks the learner can do."""
        return (*(("classification",) if self.classifier else ()), *(("regression",) if self.regressor else ()))

    def learner(self, task: Task) -> Any:
        """Return a new scikit-learn estimator with the settings of this entry."""
        module, name = (self.classifier if task == "classification" else self.regressor).split(":")
        cls = getattr(importlib.import_module(f"sklearn.{module}"), name)
        known = cls().get_params()
        return cls(**{k: v for k, v in self.settings.items() if k in known})


_ALL = (
    Entry(
        name="linear-svm",
        description="support vector machine with a linear boundary, C=1",
        classifier="svm:LinearSVC",
        regressor="svm:LinearSVR",
        settings=_settings(C=1.0, dual="auto", max_iter=20_000),
        scaled=True,
        scaled_target=True,
    ),
    Entry(
        name="rbf-svm",
        description="support vector machine with a Gaussian kernel, C=1, gamma='scale'",
        classifier="svm:SVC",
        regressor="svm:SVR",
        settings=_settings(C=1.0, gamma="scale"),
        scaled=True,
        scaled_target=True,
    ),
    Entry(
        name="cart",
        description="one decision tree, a node of fewer than 5 rows is not split",
        classifier="tree:DecisionTreeClassifier",
        regressor="tree:DecisionTreeRegressor",
        settings=_settings(min_samples_split=5),
    ),
    Entry(
        name="knn",
        description="k nearest neighbours, k = 5; knn:3 for k = 3",
        classifier="neighbors:KNeighborsClassifier",
        regressor="neighbors:KNeighborsRegressor",
        first="n_neighbors",
        scaled=True,
    ),
    Entry(
        name="lda",
        description="linear discriminant analysis",
        classifier="discriminant_analysis:LinearDiscriminantAnalysis",
        sparse=False,
    ),
    Entry(
        name="qda",
        description="quadratic discriminant analysis, covariances shrunk by 0.001 so that constant features do no harm",
        classifier="discriminant_analysis:QuadraticDiscriminantAnalysis",
        settings=_settings(reg_param=0.001),
        scaled=True,
        sparse=False,
    ),
    Entry(name="naive-bayes", description="Gaussian naive Bayes", classifier="naive_bayes:GaussianNB", sparse=False),
    Entry(
        name="logistic",
        description="logistic regression with a ridge penalty, C=1",
        classifier="linear_model:LogisticRegression",
        settings=_settings(max_iter=10_000),
        scaled=True,
    ),
    Entry(
        name="random-forest",
        description="100 trees on bootstrap samples",
        classifier="ensemble:RandomForestClassifier",
        regressor="ensemble:RandomForestRegressor",
        settings=_settings(n_estimators=100),
    ),
    Entry(
        name="boosting",
        description="gradient boosting of histogram trees, leaves of at least 5 rows",
        classifier="ensemble:HistGradientBoostingClassifier",
        regressor="ensemble:HistGradientBoostingRegressor",
        settings=_settings(min_samples_leaf=5),
        sparse=False,
    ),
    Entry(
        name="mlp",
        description="neural net with one hidden layer of 50 units, trained by L-BFGS, weight decay 1",
        classifier="neural_network:MLPClassifier",
        regressor="neural_network:MLPRegressor",
        settings=_settings(hidden_layer_sizes=(50,), solver="lbfgs", alpha=1.0, max_iter=5_000, max_fun=50_000),
        scaled=True,
        scaled_target=True,
    ),
    Entry(name="ols", description="least squares", regressor="linear_model:LinearRegression"),
    Entry(
        name="ridge",
        description="least squares with a ridge penalty, alpha=1; for classes on codes -1 and 1",
        classifier="linear_model:RidgeClassifier",
        regressor="linear_model:Ridge",
        scaled=True,
    ),
    Entry(
        name="dummy",
        description="the most frequent class, or the mean, whatever the features",
        classifier="dummy:DummyClassifier",
        regressor="dummy:DummyRegressor",
        settings=_settings(strategy=None),
        missing=True,
    ),
)

CATALOGUE: MappingProxyType[str, Entry] = MappingProxyType({entry.name: entry for entry in _ALL})
