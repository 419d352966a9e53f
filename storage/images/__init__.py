"""Original image files, in a folder or a bucket, and which file a radiograph has."""
