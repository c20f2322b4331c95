"""Tests of two models that have no interval form, one file each; intervals for differences are in `estimators`."""
