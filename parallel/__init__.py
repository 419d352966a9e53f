"""Where heavy computations run."""
