"""Is there any relation at all? With scikit-learn."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import permutation_test_score

X, y = load_diabetes(return_X_y=True)
score, permuted, p = permutation_test_score(
    Ridge(), X[:, [0, 1]], y, scoring="neg_mean_squared_error", n_permutations=99, random_state=0
)
print(f"MSE {-score:.0f}, p = {p:.3f}")
