"""Precision and recall of each class on a test set, with scikit-learn."""

from sklearn.datasets import load_wine
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = DecisionTreeClassifier(random_state=0).fit(X_train, y_train)
predicted = model.predict(X_test)
print(classification_report(y_test, predicted, digits=3))
