"""Training of many nets side by side, the classifier built on it, and a monitor of any training."""
