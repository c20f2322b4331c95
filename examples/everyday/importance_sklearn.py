"""Which columns matter on a test set, with scikit-learn."""

from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

X, y = load_iris(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = KNeighborsClassifier(5).fit(X_train, y_train)
found = permutation_importance(model, X_test, y_test, n_repeats=20, random_state=0)
order = found.importances_mean.argsort()[::-1]
for k in order:
    print(f"{X.columns[k]:<20}{found.importances_mean[k]:.3f} (+/- {found.importances_std[k]:.3f} over repeats)")
