"""Learners of the coverage study, written to be quick on 100 rows; the tests hold them against scikit-learn's."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

__all__ = ["LEARNERS", "Logistic", "Neighbours", "OnColumns", "Ridge"]


class Linear:
    """Shared by the linear rules: the sign of an affine score."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (self.weights[0] + X @ self.weights[1:] > 0).astype(int)


class Logistic(Linear):
    """Logistic regression with scikit-learn's default penalty, by Newton's method."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Logistic:
        Z = np.column_stack([np.ones(len(X)), X])
        penalty = np.diag([0.0] + [1.0] * X.shape[1])
        w = np.zeros(Z.shape[1])
        for _ in range(30):
            p = 1 / (1 + np.exp(-Z @ w))
            step = np.linalg.solve((Z * (p * (1 - p))[:, None]).T @ Z + penalty, Z.T @ (p - y) + penalty @ w)
            w = w - step
            if np.abs(step).max() < 1e-10:
                break
        self.weights = w
        return self


class Ridge(Linear):
    """Ridge regression on -1 and +1, penalty 1, as scikit-learn's RidgeClassifier."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Ridge:
        centre, target = X.mean(axis=0), 2.0 * y - 1
        Xc = X - centre
        slope = np.linalg.solve(Xc.T @ Xc + np.eye(X.shape[1]), Xc.T @ (target - target.mean()))
        self.weights = np.concatenate([[target.mean() - centre @ slope], slope])
        return self


class Neighbours:
    """Majority of the five nearest neighbours."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Neighbours:
        self.X, self.y = X, y
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        gaps = np.square(self.X).sum(axis=1) - 2 * X @ self.X.T
        return (self.y[np.argpartition(gaps, 4, axis=1)[:, :5]].sum(axis=1) > 2).astype(int)


class OnColumns:
    """A depth-3 tree that sees some columns only."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = list(columns)

    def fit(self, X: np.ndarray, y: np.ndarray) -> OnColumns:
        self.tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:, self.columns], y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.tree.predict(X[:, self.columns])


LEARNERS = {"tree": DecisionTreeClassifier, "logistic": Logistic, "kNN": Neighbours, "ridge": Ridge}
