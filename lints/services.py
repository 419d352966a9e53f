"""A rule for every package below the pages: time and randomness are passed as arguments."""

import ast
from collections.abc import Iterator

from lints.source import SourceFile, Violation

SERVICE_PACKAGES = {
    "accounts", "browsing", "domain", "imaging", "intake", "jobs", "language_models", "measures",
    "evaluation", "notifications", "parallel", "privacy", "quality", "reader_study", "records", "release",
    "review", "sampling", "storage", "terminology",
}  # fmt: skip
CLOCKS = {
    "datetime.now", "datetime.utcnow", "datetime.today", "datetime.datetime.now", "datetime.datetime.utcnow",
    "datetime.date.today", "date.today", "time.time", "time.time_ns",
}  # fmt: skip
RANDOM_FUNCTIONS = {"os.urandom", "uuid.uuid1", "uuid.uuid4", "uuid4", "uuid1", "urandom"}
RANDOM_MODULES = {"random", "secrets"}


def find_clock_reads(source: SourceFile) -> Iterator[Violation]:
    """Finds reads of the clock: a service with ``now=`` can be tested, and one action has one time."""
    if source.package not in SERVICE_PACKAGES:
        return
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in CLOCKS
            and not source.allows("reads-the-clock", node)
        ):
            yield Violation(
                path=source.path,
                line=node.lineno,
                rule="reads-the-clock",
                text="take the time as an argument, now=; only commands, pages and routes read the clock",
            )


def find_randomness(source: SourceFile) -> Iterator[Violation]:
    """Finds randomness without a seed, and imports of random and secrets: a draw must be reproducible."""
    if source.package not in SERVICE_PACKAGES:
        return
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.expr | ast.stmt)
            and _is_random(node)
            and not source.allows("draws-by-chance", node)
        ):
            yield Violation(
                path=source.path,
                line=node.lineno,
                rule="draws-by-chance",
                text="take a seed, a token or an id as an argument; only commands, pages and routes draw one",
            )


def _is_random(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in RANDOM_MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in RANDOM_MODULES
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    is_unseeded = name.endswith("default_rng") and not node.args and not node.keywords
    return name in RANDOM_FUNCTIONS or is_unseeded or name.startswith("np.random.seed")


RULES = (find_clock_reads, find_randomness)
