"""Commands of the group `unseen nets`."""
