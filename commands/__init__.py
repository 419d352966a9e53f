"""The terminal's edge: one module a family of commands; each opens the unit of work and reads the clock."""
