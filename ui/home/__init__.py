"""The page Home: own work, the state of each stage, and what is next."""
