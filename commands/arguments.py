"""The type of the argument to which each command adds its parser."""

from __future__ import annotations

import argparse
from typing import TypeAlias

#: What ``ArgumentParser.add_subparsers()`` returns; argparse has no public name for this type.
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
