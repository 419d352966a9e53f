"""What a release is made from, and the releases that were made."""
