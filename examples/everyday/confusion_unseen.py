"""The same counts, and how often a class is taken for another, with limits."""

from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from unseen import measure

flowers = load_iris()
predicted = cross_val_predict(GaussianNB(), flowers.data, flowers.target, cv=10)
confusion = measure(flowers.target_names[flowers.target], flowers.target_names[predicted], random_state=0).confusion()
print(confusion, confusion.interval("virginica", "versicolor"), sep="\n")
confusion.plot()
