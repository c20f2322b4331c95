"""Models as the engine sees them."""
