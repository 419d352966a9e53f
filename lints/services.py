"""A rule for every package below the pages: time and randomness are passed as arguments."""

import ast
from collections.abc import Iterator

from lints.source import Offence, Source

STAGES = {
    "accounts", "browsing", "domain", "imaging", "intake", "jobs", "measures", "privacy", "quality",
    "reader_study", "records", "release", "review", "sampling", "storage",
}  # fmt: skip
CLOCKS = {
    "datetime.now", "datetime.utcnow", "datetime.today", "datetime.datetime.now", "datetime.datetime.utcnow",
    "datetime.date.today", "date.today", "time.time", "time.time_ns",
}  # fmt: skip
CHANCE = {"os.urandom", "uuid.uuid1", "uuid.uuid4", "uuid4", "uuid1", "urandom"}
CHANCE_MODULES = {"random", "secrets"}


def reads_the_clock(source: Source) -> Iterator[Offence]:
    """Finds reads of the clock: a service with ``now=`` can be tested, and one action has one time."""
    if source.room not in STAGES:
        return
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in CLOCKS
            and not source.allows("reads-the-clock", node)
        ):
            yield Offence(
                path=source.path,
                line=node.lineno,
                rule="reads-the-clock",
                text="take the time as an argument, now=; only the edge reads the clock",
            )


def draws_by_chance(source: Source) -> Iterator[Offence]:
    """Finds randomness without a seed, and imports of random and secrets: a draw must be reproducible."""
    if source.room not in STAGES:
        return
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.expr | ast.stmt)
            and _is_chance(node)
            and not source.allows("draws-by-chance", node)
        ):
            yield Offence(
                path=source.path,
                line=node.lineno,
                rule="draws-by-chance",
                text="take a seed, a token or an id as an argument; only the edge draws one",
            )


def _is_chance(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in CHANCE_MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in CHANCE_MODULES
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    unseeded = name.endswith("default_rng") and not node.args and not node.keywords
    return name in CHANCE or unseeded or name.startswith("np.random.seed")


RULES = (reads_the_clock, draws_by_chance)
