"""Is there any relation at all? 999 permutations by algebra, in the time of a few fits."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from unseen import permutation_test

X, y = load_diabetes(return_X_y=True)
test = permutation_test(Ridge(), X[:, [0, 1]], y, n_permutations=999, random_state=0)
print(f"MSE {test.error:.0f}, p = {test.p:.3f}")
