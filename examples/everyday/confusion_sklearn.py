"""Which classes are taken for which? With scikit-learn."""

from sklearn.datasets import load_iris
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

flowers = load_iris()
predicted = cross_val_predict(GaussianNB(), flowers.data, flowers.target, cv=10)
counts = confusion_matrix(flowers.target, predicted)
print(counts)
ConfusionMatrixDisplay(counts, display_labels=flowers.target_names).plot()
