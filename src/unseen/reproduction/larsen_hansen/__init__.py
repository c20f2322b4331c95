"""The distribution of the generalization error: Larsen & Hansen (1995)."""

from unseen.reproduction.larsen_hansen.experiment import LarsenHansen, LarsenHansenResult

__all__ = ["LarsenHansen", "LarsenHansenResult"]
