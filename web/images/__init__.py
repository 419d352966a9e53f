"""Radiographs for the browser: as JPEG, and as stored values for the viewer."""
