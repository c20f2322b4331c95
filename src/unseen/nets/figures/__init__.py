"""Figures of rankings, benches and scores of nets."""
