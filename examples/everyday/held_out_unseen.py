"""The same with intervals; `a.report("page.html")` adds curves, calibration and the confusion matrix."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unseen import assess

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=150, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
a = assess(model, X_test, y_test, prefit=True, scoring=["accuracy", "roc_auc"], random_state=0)
print(a)
