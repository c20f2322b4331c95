"""Is the discriminant better than the tree? A paired t test over folds, with scikit-learn and scipy."""

from scipy.stats import ttest_rel
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
splits = ShuffleSplit(25, test_size=0.3, random_state=0)
lda = cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=splits)
tree = cross_val_score(DecisionTreeClassifier(random_state=0), X, y, cv=splits)
difference = tree.mean() - lda.mean()
print(f"error of lda - tree {difference:+.4f}, p = {ttest_rel(lda, tree).pvalue:.1e} (splits taken for independent)")
