"""Storage of the problems that the structural checks report."""
