"""What nets read and write: weights, examples and the progress of a training."""
