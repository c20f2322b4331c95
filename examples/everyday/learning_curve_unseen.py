"""Would more rows help? The curve goes on beyond the rows there are, with limits."""

from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier

from unseen import diagnose

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
curve = diagnose(RidgeClassifier(), X, y, effort="quick", random_state=0).curve
for size in (300, 400, 800):
    print("{:>4} rows: error {:.3f} ({:.3f} to {:.3f})".format(size, *curve.at(size)))
