"""Unset seeds are set on the object that owns them, as `set_params` would, and never on the user's own model."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from unseen.models.sklearn import _set_seeds, as_model

FOREST = make_pipeline(StandardScaler(), RandomForestClassifier())
MODELS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(random_state=3),
    make_pipeline(StandardScaler(), LogisticRegression()),
    VotingClassifier([("tree", DecisionTreeClassifier()), ("forest", FOREST)]),
    BaggingClassifier(DecisionTreeClassifier()),
    GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_seeds_are_those_of_set_params(model):
    names = as_model(model).unset_seeds
    ours, theirs = clone(model), clone(model)
    _set_seeds(ours, names, 100)
    theirs.set_params(**{name: 100 + k for k, name in enumerate(names)})
    seeds = [{n: v for n, v in m.get_params().items() if n.endswith("random_state")} for m in (ours, theirs)]
    assert seeds[0] == seeds[1]
    assert None not in seeds[0].values()
    assert all(model.get_params()[name] is None for name in names)
