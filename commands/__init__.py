"""The commands of ``cli.py``, one module per family. Each opens the unit of work and reads the clock."""
