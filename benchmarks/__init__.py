"""Timings as ratios against a peer measured in the same run; `make bench` prints and writes the table."""
