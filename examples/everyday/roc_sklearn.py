"""The ROC curve of out-of-fold scores, with scikit-learn."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
p = cross_val_predict(model, X[:, :4], y, cv=10, method="predict_proba")[:, 1]
auc = roc_auc_score(y, p)
print(f"AUC {auc:.3f}")
RocCurveDisplay.from_predictions(y, p)
plt.savefig("roc.png")
