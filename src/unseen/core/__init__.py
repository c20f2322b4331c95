"""Records and arithmetic shared by all parts; numpy and scipy only."""
