"""Rules on the names of the project's folders and modules, taken together."""

import sys
from collections.abc import Iterable, Iterator

from lints.source import Offence, Source

#: Streamlit runs ui/shell.py and puts its folder first on sys.path: modules there hide top-level packages.
FIRST_ON_PATH = "ui"
#: Folders in which a module named like a package could be mistaken for it, by Python or by a reader.
CHECKED = (FIRST_ON_PATH, "pages")


def hides_a_room(sources: Iterable[Source]) -> Iterator[Offence]:
    """Finds folders and modules that hide a package of the project, or of the standard library.

    In ui/ and pages/ no folder may have the name of a top-level package. In ui/, no folder or module may have
    that of a package or of a module of the standard library. ``ui/browsing`` once hid the package
    ``browsing`` in the running app only: no test runs with Streamlit's path.
    """
    listed = [(source, source.path.removesuffix(".py").split("/")) for source in sources]
    rooms = {parts[0] for _, parts in listed if len(parts) > 1}
    told = set()
    for source, parts in listed:
        if len(parts) < 2 or parts[0] not in CHECKED:
            continue
        taken = rooms if parts[0] != FIRST_ON_PATH else rooms | sys.stdlib_module_names
        is_folder = len(parts) > 2
        name = f"{parts[0]}/{parts[1]}"
        if parts[1] not in taken or name in told or not (is_folder or parts[0] == FIRST_ON_PATH):
            continue
        told.add(name)
        yield Offence(
            path=source.path,
            line=1,
            rule="hides-a-room",
            text=f"'{name}' would be found instead of '{parts[1]}' in the running app: give it another name",
        )


RULES = (hides_a_room,)
