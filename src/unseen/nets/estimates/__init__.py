"""Estimates of the error of a trained net without training it again."""
