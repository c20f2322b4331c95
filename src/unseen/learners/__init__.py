"""scikit-learn estimators of this package, and models by name."""
