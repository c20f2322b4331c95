"""Torch modules as everything here sees them: device, inputs, logits, layers, and small architectures."""
