"""Checks of data and runs: what could make an error estimate misleading."""
