"""What the batch pages are made of."""
