"""Rankings of networks, and how well a measure orders them."""
