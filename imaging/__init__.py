"""DICOM, PNG and JPEG files: what they say, their pixels, and a picture for the screen."""
