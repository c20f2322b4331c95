"""Three scores from one cross-validation, with scikit-learn."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
folds = StratifiedKFold(10, shuffle=True, random_state=0)
found = cross_validate(model, X, y, scoring=["roc_auc", "accuracy", "f1"], cv=folds)
for name in ("roc_auc", "accuracy", "f1"):
    scores = found[f"test_{name}"]
    print(f"{name:<10}{scores.mean():.3f} (+/- {scores.std():.3f} over folds)")
