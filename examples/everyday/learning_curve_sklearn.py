"""Would more rows help? With scikit-learn."""

from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import ShuffleSplit, learning_curve

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
splits = ShuffleSplit(10, test_size=0.25, random_state=0)
sizes, _, scores = learning_curve(RidgeClassifier(), X, y, train_sizes=[0.25, 0.5, 1.0], cv=splits)
errors = 1 - scores.mean(axis=1)
for size, error in zip(sizes, errors):
    print(f"{size:>4} rows: error {error:.3f}")
