"""Radiographs for the browser: as JPEG images, and as stored pixel values for the viewer."""
