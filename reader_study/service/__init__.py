"""What the screens and commands ask of reader studies; the only door to storage in this room."""
