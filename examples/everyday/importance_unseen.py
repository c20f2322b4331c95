"""Which columns matter on rows that were not trained on, with intervals that hold for all columns together."""

from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from unseen import diagnose

X, y = load_iris(return_X_y=True, as_frame=True)
importance = diagnose(KNeighborsClassifier(5), X, y, effort="quick", random_state=0).importance
print(importance.sentence())
for row in importance.rows():
    print("{column:<20}{importance:.3f} ({lower:.3f} to {upper:.3f})".format(**row))
