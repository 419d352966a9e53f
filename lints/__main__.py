"""``python -m lints [ROOT]``: prints every offence; exits with 0 if there is none, otherwise with 1."""

import sys
from pathlib import Path

from lints import actions, cycles, migrations, modules, names, records, screens, services, wording
from lints.source import Offence, sources

RULES = (*screens.RULES, *actions.RULES, *services.RULES, *records.RULES, *modules.RULES)
#: Rules that need all files at once.
RULES_OF_ALL = (*names.RULES, *cycles.RULES)


def offences(root: Path) -> list[Offence]:
    """Every offence under ``root``, ordered by path and line."""
    listed = list(sources(root))
    of_one = (offence for source in listed for rule in RULES for offence in rule(source))
    of_all = (offence for rule in RULES_OF_ALL for offence in rule(listed))
    return sorted((*of_one, *of_all, *migrations.unpinned_or_changed(root), *wording.unclear_words(root)))


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = offences(root)
    for offence in found:
        print(offence)
    if not found:
        print("own lints: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
