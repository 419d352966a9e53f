"""Which pages there are, and which of them a person's roles open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from domain.people import Action, Person

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One screen: its file under the project's folder, and the action that it is for (None: everybody)."""

    file: str
    title: str
    icon: str
    action: Action | None

    @property
    def path(self) -> Path:
        """Absolute, as st.navigation needs it: relative paths depend on who started the script."""
        return ROOT / self.file


HOME = Page(file="pages/home.py", title="Home", icon=":material/home:", action=None)
PAGES = (
    HOME,
    Page(
        file="pages/import_questions.py",
        title="Import",
        icon=":material/upload_file:",
        action=Action.IMPORT_QUESTIONS,
    ),
    Page(file="pages/checks.py", title="Checks", icon=":material/rule:", action=Action.SEE_CHECKS),
    Page(file="pages/sampling.py", title="Draw a batch", icon=":material/casino:", action=Action.DRAW_BATCH),
    Page(file="pages/assign.py", title="Batches", icon=":material/group_work:", action=Action.ASSIGN),
    Page(
        file="pages/progress.py", title="Progress", icon=":material/monitoring:", action=Action.SEE_PROGRESS
    ),
    Page(
        file="pages/releases.py", title="Releases", icon=":material/inventory_2:", action=Action.MAKE_RELEASE
    ),
    Page(file="pages/review.py", title="Review", icon=":material/radiology:", action=Action.JUDGE),
    Page(file="pages/people.py", title="People", icon=":material/group:", action=Action.MANAGE_PEOPLE),
)


def pages_for(person: Person) -> list[Page]:
    """The pages of the person's roles, in the order of the navigation."""
    return [page for page in PAGES if page.action is None or person.may(page.action)]
