"""The seeded stratified draw: so many of every 1,000 questions, evenly over the tiers of difficulty."""
