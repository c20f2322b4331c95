"""Bayesian posterior-probability error estimates of nets: figures 2.7 to 2.9 of Ghane's dissertation (2022)."""

from unseen.reproduction.ghane_bayes.experiment import BayesResult, GhaneBayes

__all__ = ["BayesResult", "GhaneBayes"]
