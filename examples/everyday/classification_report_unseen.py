"""Every rate of the same predictions with its interval."""

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from unseen import measure

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = DecisionTreeClassifier(random_state=0).fit(X_train, y_train)
m = measure(y_test, model.predict(X_test), random_state=0)
print(m.table())
