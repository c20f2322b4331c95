"""Augmented images: what is done to them, what it costs to misclassify them, and sheets that show them."""
