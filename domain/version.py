"""The version of Overread."""

VERSION = "0.1.0"
