"""The form in which an adjudicator settles a dispute: an own component and what travels to and from it."""
