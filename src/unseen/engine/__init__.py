"""Runs plans: tasks in, predictions out."""
