"""Coded checks of data and runs: one file each, with its code, title, advice and the function that finds it."""
