"""Rules on the names of the project's folders and modules, taken together."""

import sys
from collections.abc import Iterable, Iterator

from lints.source import SourceFile, Violation

#: Streamlit runs ui/shell.py and puts its folder first on sys.path: modules there hide top-level packages.
STREAMLIT_PATH_FOLDER = "ui"
#: Folders in which a folder or module named like a package could be mistaken for the package.
CHECKED_FOLDERS = (STREAMLIT_PATH_FOLDER, "pages")


def find_hidden_packages(sources: Iterable[SourceFile]) -> Iterator[Violation]:
    """Finds folders and modules that hide a package of the project, or of the standard library.

    In ui/ and pages/, no folder may have the name of a top-level package. In ui/, no folder or module may
    have the name of a top-level package or of a standard library module. ``ui/browsing`` once hid the package
    ``browsing`` in the running app, and no test failed, because tests do not run with Streamlit's path.
    """
    sources_and_parts = [(source, source.path.removesuffix(".py").split("/")) for source in sources]
    packages = {parts[0] for _, parts in sources_and_parts if len(parts) > 1}
    reported = set()
    for source, parts in sources_and_parts:
        if len(parts) < 2 or parts[0] not in CHECKED_FOLDERS:
            continue
        reserved_names = packages if parts[0] != STREAMLIT_PATH_FOLDER else packages | sys.stdlib_module_names
        is_folder = len(parts) > 2
        name = f"{parts[0]}/{parts[1]}"
        if (
            parts[1] not in reserved_names
            or name in reported
            or not (is_folder or parts[0] == STREAMLIT_PATH_FOLDER)
        ):
            continue
        reported.add(name)
        yield Violation(
            path=source.path,
            line=1,
            rule="hidden-package",
            text=f"'{name}' would be found instead of '{parts[1]}' in the running app: give it another name",
        )


RULES = (find_hidden_packages,)
