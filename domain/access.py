"""Permissions: the table of actions, with the roles, pages and routes of each.

Navigation, the permission checks of pages and services, the list of the app's routes and the permission tests
are made from it. A new page or route is added here first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """A person's role; one person may have several."""

    ADMIN = "admin"
    COORDINATOR = "coordinator"
    REVIEWER = "reviewer"
    READER = "reader"


class Action(StrEnum):
    """An action that needs permission; services and pages check it with ``domain.people.require``."""

    MANAGE_PEOPLE = "manage people"
    IMPORT_QUESTIONS = "import questions"
    SEE_CHECKS = "see checks"
    BROWSE = "browse questions"
    PROTECT_PATIENTS = "protect patient data"
    DRAW_BATCH = "draw a batch"
    ASSIGN = "assign questions"
    SEE_PROGRESS = "see progress"
    MAKE_RELEASE = "make a release"
    JUDGE = "judge questions"
    ADJUDICATE = "settle disputes"
    SEE_AUDIT = "see the audit trail"
    RUN_STUDY = "run a reader study"
    READ = "read cases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One row of the table: an action, the roles that may do it, and its pages and routes.

    ``pages`` are files relative to the project's folder; ``routes`` are "METHOD /path" as declared.
    """

    action: Action
    roles: frozenset[Role]
    pages: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()


TABLE: tuple[Access, ...] = (
    Access(action=Action.MANAGE_PEOPLE, roles=frozenset({Role.ADMIN}), pages=("pages/people.py",)),
    Access(
        action=Action.IMPORT_QUESTIONS,
        roles=frozenset({Role.COORDINATOR}),
        pages=("pages/import_questions.py",),
        routes=("GET /files/refusals/{name}",),
    ),
    Access(
        action=Action.BROWSE,
        roles=frozenset({Role.COORDINATOR}),
        pages=("pages/browse.py", "pages/statistics.py"),
        routes=("GET /files/statistics/{name}",),
    ),
    Access(action=Action.SEE_CHECKS, roles=frozenset({Role.COORDINATOR}), pages=("pages/checks.py",)),
    Access(
        action=Action.PROTECT_PATIENTS,
        roles=frozenset({Role.COORDINATOR}),
        pages=("pages/patient_data.py",),
    ),
    Access(action=Action.DRAW_BATCH, roles=frozenset({Role.COORDINATOR}), pages=("pages/sampling.py",)),
    Access(action=Action.ASSIGN, roles=frozenset({Role.COORDINATOR}), pages=("pages/assign.py",)),
    Access(
        action=Action.SEE_PROGRESS,
        roles=frozenset({Role.COORDINATOR}),
        pages=("pages/progress.py", "pages/agreement.py", "pages/attention.py", "pages/estimates.py"),
        routes=("GET /files/estimates.csv",),
    ),
    Access(
        action=Action.MAKE_RELEASE,
        roles=frozenset({Role.COORDINATOR}),
        pages=("pages/releases.py",),
        routes=(
            "GET /files/releases/{release_id:int}.zip",
            "GET /files/releases/{release_id:int}/{name:path}",
        ),
    ),
    Access(
        action=Action.JUDGE,
        roles=frozenset({Role.REVIEWER}),
        pages=("pages/review.py",),
        routes=(
            "POST /judging/verdict",
            "POST /judging/draft",
            "POST /judging/own-answer",
            "POST /judging/skip",
            "POST /judging/look",
            "POST /judging/report",
            "POST /judging/turn",
        ),
    ),
    Access(
        action=Action.SEE_AUDIT,
        roles=frozenset({Role.ADMIN, Role.COORDINATOR}),
        pages=("pages/audit.py",),
        routes=("GET /files/audit.{file_format}",),
    ),
    Access(
        action=Action.ADJUDICATE,
        roles=frozenset({Role.REVIEWER}),
        pages=("pages/adjudicate.py",),
        routes=("POST /settling/adjudication", "POST /settling/turn"),
    ),
    Access(
        action=Action.RUN_STUDY,
        roles=frozenset({Role.COORDINATOR}),
        pages=("pages/studies.py",),
        routes=(
            "GET /files/study-reports/{digest}/report.zip",
            "GET /files/study-reports/{digest}/{name:path}",
        ),
    ),
    Access(
        action=Action.READ,
        roles=frozenset({Role.READER}),
        pages=("pages/read.py",),
        routes=(
            "POST /reading/answer",
            "POST /reading/draft",
            "POST /reading/time",
            "POST /reading/turn",
        ),
    ),
)

#: Pages for everybody who is signed in, whatever the role.
PAGES_OF_ALL: tuple[str, ...] = ("pages/home.py", "pages/account.py")
#: Routes for everybody who is signed in. The routes of images check the person's assignments themselves.
ROUTES_OF_ALL: tuple[str, ...] = (
    "GET /connected",
    "GET /frontend/{digest}/{name}",
    "GET /pixels/{exam_number:int}/{anything:path}",
    "GET /radiographs/{exam_number:int}/{radiograph_key:path}",
)
#: Routes that need no sign-in: signing in, and whether the app is up.
OPEN_ROUTES: tuple[str, ...] = (
    "GET /health",
    "GET /health/ready",
    "GET /first-admin",
    "GET /sign-in",
    "GET /sign-in/provider",
    "POST /first-admin",
    "POST /sign-in",
)

#: Actions that include uploading files to the app.
UPLOADING: frozenset[Action] = frozenset({Action.IMPORT_QUESTIONS, Action.RUN_STUDY})

#: The actions of each role.
ALLOWED: dict[Role, frozenset[Action]] = {
    role: frozenset(row.action for row in TABLE if role in row.roles) for role in Role
}


def action_of_page(file: str) -> Action | None:
    """The action that opening a page needs.

    Args:
        file: of the page, relative to the project's folder ("pages/people.py").

    Returns:
        The action; None for a page that is for everybody who is signed in.

    Raises:
        ValueError: the page is not in the table.
    """
    if file in PAGES_OF_ALL:
        return None
    found = next((row.action for row in TABLE if file in row.pages), None)
    if found is None:
        raise ValueError(f"{file} is not in the table of domain/access.py: nobody would know who may open it")
    return found


def action_of_route(route: str) -> Action | None:
    """The action that a request needs.

    Args:
        route: "METHOD /path", as it is declared.

    Returns:
        The action; None for a route that is for everybody who is signed in, or open.

    Raises:
        ValueError: the route is not in the table.
    """
    if route in ROUTES_OF_ALL or route in OPEN_ROUTES:
        return None
    found = next((row.action for row in TABLE if route in row.routes), None)
    if found is None:
        raise ValueError(f"{route} is not in the table of domain/access.py: nobody would know whose it is")
    return found
