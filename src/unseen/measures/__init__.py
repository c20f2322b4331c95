"""Losses and measures, one file each; a measure that has `per_example` decomposes and is a loss."""
