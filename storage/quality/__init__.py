"""What the structural checks found."""
