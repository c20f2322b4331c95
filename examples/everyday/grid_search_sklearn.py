"""The error of a tuned model: a search inside, folds outside, with scikit-learn."""

from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_wine(return_X_y=True)
search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1, 10]}, cv=5)
outer = StratifiedKFold(10, shuffle=True, random_state=0)
scores = cross_val_score(search, X, y, cv=outer)
print(f"error {1 - scores.mean():.3f} (+/- {scores.std():.3f} over folds)")
