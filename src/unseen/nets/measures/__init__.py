"""Measures of generalization, one file each: a trained network and its training data in, a number out (larger: larger gap)."""
