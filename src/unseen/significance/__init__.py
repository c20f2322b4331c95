"""Tests without an interval form, one file each; adjustment for several of them, rankings, and the price of choosing the winner."""
