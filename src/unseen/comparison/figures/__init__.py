"""Figures of comparisons and rankings."""
