"""Accuracy by the same five folds, with an interval for the accuracy and what it is the accuracy of."""

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unseen

X, y = unseen.datasets.load("wine").xy
model = make_pipeline(StandardScaler(), LogisticRegression())
folds = StratifiedKFold(5, shuffle=True, random_state=0)
print(a := unseen.assess(model, X, y, scoring="accuracy", cv=folds, random_state=0))
