"""Figures of a diagnosis and of training progress."""
