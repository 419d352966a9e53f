"""Rules on patient data, and what was found in texts and pixels."""
