"""The type of the object to which a command adds its parser."""

from __future__ import annotations

import argparse
from typing import TypeAlias

#: What ``ArgumentParser.add_subparsers()`` returns; argparse has no public name for it.
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
