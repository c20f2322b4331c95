"""Figures of measures, of files of predictions and of disagreements."""
