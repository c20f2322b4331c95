"""Generalized resubstitution on Gaussian data: tables 2.1 to 2.5 of Ghane's dissertation (2022)."""

from unseen.reproduction.ghane_synthetic.experiment import GhaneResult, GhaneSynthetic

__all__ = ["GhaneResult", "GhaneSynthetic"]
