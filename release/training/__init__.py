"""Training data from a release, for the libraries and models that are fine-tuned on it."""
