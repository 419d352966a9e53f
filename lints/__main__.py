"""``python -m lints [ROOT]``: prints all violations. Exits with 0 if there are none, otherwise with 1."""

import sys
from pathlib import Path

from lints import actions, cycles, decoding, migrations, modules, names, records, screens, services, wording
from lints.source import Violation, read_sources

RULES = (
    *decoding.RULES,
    *screens.RULES,
    *actions.RULES,
    *services.RULES,
    *records.RULES,
    *modules.RULES,
    *wording.RULES,
)
#: Rules that need all files at once.
PROJECT_RULES = (*names.RULES, *cycles.RULES)


def find_violations(root: Path) -> list[Violation]:
    """Return all violations under ``root``, ordered by path and line."""
    files = list(read_sources(root))
    file_violations = (violation for source in files for rule in RULES for violation in rule(source))
    project_violations = (violation for rule in PROJECT_RULES for violation in rule(files))
    return sorted(
        (
            *file_violations,
            *project_violations,
            *migrations.find_changed_migrations(root),
            *wording.find_unclear_words(root),
        )
    )


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    violations = find_violations(root)
    for violation in violations:
        print(violation)
    if not violations:
        print("own lints: nothing found")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
