"""The same curve with a band that holds the whole of it, and the interval of its area."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unseen import measure

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
p = cross_val_predict(model, X[:, :4], y, cv=10, method="predict_proba")[:, 1]
roc = measure(y, p, random_state=0).roc()
print(roc.auc)
roc.plot().figure.savefig("roc.png")
