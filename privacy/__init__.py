"""Patient data: the workspace's rules, and search for patient data in texts and pixels."""
