"""Figures of an assessment, of single estimates, of distributions and of resubstitution."""
