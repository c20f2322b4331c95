"""Size and power of tests about generalization errors: Nadeau & Bengio (2000, 2003)."""

from unseen.reproduction.nadeau_bengio.experiment import NadeauBengio, NadeauBengioResult

__all__ = ["NadeauBengio", "NadeauBengioResult"]
