"""Batches, their draws and the frames that they are drawn from."""
