"""Where an error comes from: diagnose and what belongs to it."""
