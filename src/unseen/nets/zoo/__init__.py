"""Zoos: grids of networks whose gaps are known, and networks in folders."""
