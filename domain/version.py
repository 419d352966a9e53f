"""Which version of Overread this is."""

VERSION = "0.1.0"
