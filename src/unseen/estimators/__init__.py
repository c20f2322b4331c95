"""Resampling and closed-form estimators, one file each."""
