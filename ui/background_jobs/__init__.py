"""Background jobs of the app: their kinds, the worker of this process, and their display on pages."""
