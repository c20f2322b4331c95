"""Samples from the posterior of a net's weights."""
