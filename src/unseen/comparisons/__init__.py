"""Tests that have no interval form, one file each."""
