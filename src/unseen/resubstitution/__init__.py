"""Error estimation without retraining: generalized resubstitution."""
