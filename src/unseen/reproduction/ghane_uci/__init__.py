"""Fully connected nets on small UCI sets: figures 2.4 to 2.6 of Ghane's dissertation (2022)."""

from unseen.reproduction.ghane_uci.experiment import GhaneUci, UciResult

__all__ = ["GhaneUci", "UciResult"]
