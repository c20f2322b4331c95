"""How large a test set must be, what it can show, and how much to hold out."""
