"""Storage of batches, their draws and sampling frames."""
