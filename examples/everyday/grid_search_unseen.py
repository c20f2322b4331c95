"""The same: the search is part of the model, so that it runs inside every fold."""

from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from unseen import assess

X, y = load_wine(return_X_y=True)
search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1, 10]}, cv=5)
outer = StratifiedKFold(10, shuffle=True, random_state=0)
print(a := assess(search, X, y, cv=outer, random_state=0))
