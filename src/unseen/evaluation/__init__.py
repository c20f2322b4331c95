"""Judging predictions that exist already: measures, files of predictions, disagreements."""
