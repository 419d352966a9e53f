"""The pages, in the order of the navigation, and the action that each is for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from domain.access import Action
from domain.people import Person

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One screen: its file under the project's folder, its title and icon.

    ``action`` is what a person must be allowed to do to open it; None for a page of everybody.
    """

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
    Page(file="pages/browse.py", title="Browse", icon=":material/search:", action=Action.BROWSE),
    Page(file="pages/statistics.py", title="Statistics", icon=":material/bar_chart:", action=Action.BROWSE),
    Page(
        file="pages/patient_data.py",
        title="Patient data",
        icon=":material/shield_person:",
        action=Action.PROTECT_PATIENTS,
    ),
    Page(file="pages/sampling.py", title="Draw a batch", icon=":material/casino:", action=Action.DRAW_BATCH),
    Page(file="pages/assign.py", title="Batches", icon=":material/group_work:", action=Action.ASSIGN),
    Page(
        file="pages/progress.py", title="Progress", icon=":material/monitoring:", action=Action.SEE_PROGRESS
    ),
    Page(
        file="pages/agreement.py", title="Agreement", icon=":material/handshake:", action=Action.SEE_PROGRESS
    ),
    Page(
        file="pages/attention.py",
        title="Attention",
        icon=":material/visibility_lock:",
        action=Action.SEE_PROGRESS,
    ),
    Page(
        file="pages/estimates.py",
        title="What the sample says",
        icon=":material/functions:",
        action=Action.SEE_PROGRESS,
    ),
    Page(
        file="pages/releases.py", title="Releases", icon=":material/inventory_2:", action=Action.MAKE_RELEASE
    ),
    Page(file="pages/studies.py", title="Reader studies", icon=":material/groups:", action=Action.RUN_STUDY),
    Page(file="pages/review.py", title="Review", icon=":material/radiology:", action=Action.JUDGE),
    Page(file="pages/read.py", title="Read", icon=":material/visibility:", action=Action.READ),
    Page(file="pages/audit.py", title="Audit trail", icon=":material/history_edu:", action=Action.SEE_AUDIT),
    Page(
        file="pages/adjudicate.py", title="Settle disputes", icon=":material/gavel:", action=Action.ADJUDICATE
    ),
    Page(file="pages/people.py", title="People", icon=":material/group:", action=Action.MANAGE_PEOPLE),
    Page(file="pages/account.py", title="My account", icon=":material/account_circle:", action=None),
)


def pages_for(person: Person) -> list[Page]:
    """The pages of the person's roles, in the order of the navigation."""
    return [page for page in PAGES if page.action is None or person.may(page.action)]
