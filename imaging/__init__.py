"""Reads DICOM, PNG and JPEG files: header facts, pixels, pictures for the screen, de-identification."""
