"""Which one to ship, by how much it is better, and a test that knows that splits share their rows."""

from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from unseen import compare

X, y = load_breast_cancer(return_X_y=True)
models = {"lda": LinearDiscriminantAnalysis(), "tree": DecisionTreeClassifier(random_state=0)}
c = compare(models, X, y, cv=ShuffleSplit(25, test_size=0.3, random_state=0), random_state=0)
print(c.sentence, c.pairs[0], sep="\n")
