"""Are the probabilities right? Slope, intercept and calibration error with intervals, and a test."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from unseen import measure

X, y = load_breast_cancer(return_X_y=True)
p = cross_val_predict(GaussianNB(), X[:, :4], y, cv=10, method="predict_proba")[:, 1]
m = measure(y, p, random_state=0)
print("Brier score", m["brier"])
print(m.calibration().fit.sentence())
m.calibration().plot()
