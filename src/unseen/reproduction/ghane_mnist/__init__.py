"""Naive-Bayes bolstering of LeNet-5 on MNIST: tables 2.6 to 2.9 and figure 2.3 of Ghane's dissertation (2022)."""

from unseen.reproduction.ghane_mnist.experiment import GhaneMnist, MnistResult

__all__ = ["GhaneMnist", "MnistResult"]
