"""Exact algebra that replaces refitting, one file per learner kind, behind the engine's `fit_many` hook."""
