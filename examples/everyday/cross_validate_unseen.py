"""The same three scores from the same folds, each with an interval, and the verdict against guessing."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unseen import assess

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
folds = StratifiedKFold(10, shuffle=True, random_state=0)
a = assess(model, X, y, scoring=["roc_auc", "accuracy", "f1"], cv=folds, random_state=0)
print(a)
