"""Parts of the page Home: own work, the state of each stage, and the next step."""
