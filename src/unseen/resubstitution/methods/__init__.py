"""Methods that need no retraining, one file each."""
