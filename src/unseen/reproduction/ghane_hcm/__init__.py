"""The hybrid compartmental model of phenylalanine and tyrosine: table 4.1 and figure 4.5 of Ghane's dissertation (2022)."""

from unseen.reproduction.ghane_hcm.experiment import GhaneHcm

__all__ = ["GhaneHcm"]
