"""Which model is better: compare and rank."""
