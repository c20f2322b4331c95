"""Are the probabilities right? With scikit-learn."""

from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

X, y = load_breast_cancer(return_X_y=True)
p = cross_val_predict(GaussianNB(), X[:, :4], y, cv=10, method="predict_proba")[:, 1]
observed, predicted = calibration_curve(y, p, n_bins=10)
brier = brier_score_loss(y, p)
print(f"Brier score {brier:.4f}")
for pair in zip(predicted, observed):
    print("predicted {:.2f}, observed {:.2f}".format(*pair))
