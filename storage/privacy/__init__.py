"""Storage of the rules on patient data, and of possible patient data in texts and pixels."""
