"""The error of one model: assess, estimate, run, distribution, resubstitute."""
