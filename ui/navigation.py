"""Which pages there are, in the order of the navigation; domain/access.py says whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from domain.access import Action, action_of_page
from domain.people import Person

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One screen: its file under the project's folder, its title, its sign."""

    file: str
    title: str
    icon: str

    @property
    def action(self) -> Action | None:
        """What it is for, by the table of access; None for a page of everybody."""
        return action_of_page(self.file)

    @property
    def path(self) -> Path:
        """Absolute, as st.navigation needs it: relative paths depend on who started the script."""
        return ROOT / self.file


HOME = Page(file="pages/home.py", title="Home", icon=":material/home:")
PAGES = (
    HOME,
    Page(file="pages/import_questions.py", title="Import", icon=":material/upload_file:"),
    Page(file="pages/checks.py", title="Checks", icon=":material/rule:"),
    Page(file="pages/browse.py", title="Browse", icon=":material/search:"),
    Page(file="pages/statistics.py", title="Statistics", icon=":material/bar_chart:"),
    Page(file="pages/patient_data.py", title="Patient data", icon=":material/shield_person:"),
    Page(file="pages/sampling.py", title="Draw a batch", icon=":material/casino:"),
    Page(file="pages/assign.py", title="Batches", icon=":material/group_work:"),
    Page(file="pages/progress.py", title="Progress", icon=":material/monitoring:"),
    Page(file="pages/agreement.py", title="Agreement", icon=":material/handshake:"),
    Page(file="pages/attention.py", title="Attention", icon=":material/visibility_lock:"),
    Page(file="pages/estimates.py", title="What the sample says", icon=":material/functions:"),
    Page(file="pages/releases.py", title="Releases", icon=":material/inventory_2:"),
    Page(file="pages/studies.py", title="Reader studies", icon=":material/groups:"),
    Page(file="pages/review.py", title="Review", icon=":material/radiology:"),
    Page(file="pages/read.py", title="Read", icon=":material/visibility:"),
    Page(file="pages/audit.py", title="Audit trail", icon=":material/history_edu:"),
    Page(file="pages/adjudicate.py", title="Settle disputes", icon=":material/gavel:"),
    Page(file="pages/people.py", title="People", icon=":material/group:"),
    Page(file="pages/account.py", title="My account", icon=":material/account_circle:"),
)


def pages_for(person: Person) -> list[Page]:
    """The pages of the person's roles, in the order of the navigation."""
    return [page for page in PAGES if page.action is None or person.may(page.action)]
