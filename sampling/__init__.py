"""The seeded stratified draw: a number of every 1,000 questions, evenly over the tiers of difficulty."""
