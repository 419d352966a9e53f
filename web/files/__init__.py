"""Files that people download."""
