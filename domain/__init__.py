"""The records of Overread as frozen dataclasses that are valid once they exist; standard library only."""
