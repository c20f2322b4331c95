"""Figures of tracer studies."""
