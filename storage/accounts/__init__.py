"""Storage of people, their sign-ins and counts of wrong passwords."""
