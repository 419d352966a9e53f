"""Storage of the input of releases and of the releases themselves."""
