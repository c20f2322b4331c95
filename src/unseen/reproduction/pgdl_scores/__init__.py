"""Scores of the PGDL competition (NeurIPS 2020)."""

from unseen.reproduction.pgdl_scores.experiment import PgdlScores

__all__ = ["PgdlScores"]
