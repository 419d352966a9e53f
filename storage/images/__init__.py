"""Storage of original image files in a folder or a bucket, and the files of radiographs."""
