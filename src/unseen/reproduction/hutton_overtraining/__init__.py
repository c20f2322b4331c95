"""Overtraining on random data: Hutton (1992)."""

from unseen.reproduction.hutton_overtraining.experiment import HuttonOvertraining, HuttonResult

__all__ = ["HuttonOvertraining", "HuttonResult"]
