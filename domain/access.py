"""The table of permissions: all actions, and the roles that may do each.

Navigation, pages, routes and services use this table, and so do the tests of denied access.
ui/navigation.py states the action of each page, web/routes.py the action of each route.
"""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """A person's role; one person may have several."""

    ADMIN = "admin"
    COORDINATOR = "coordinator"
    REVIEWER = "reviewer"
    READER = "reader"
    SUBMITTER = "submitter"


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
    MAKE_RELEASE = "create a release"
    JUDGE = "judge questions"
    ADJUDICATE = "adjudicate disputes"
    SEE_AUDIT = "see the audit trail"
    RUN_STUDY = "run a reader study"
    READ = "read cases"
    MANAGE_MODELS = "manage language models"
    RUN_MODELS = "run language models"
    MARK_ANSWERS = "mark open answers"
    SCORE_OUTPUTS = "score outputs of models"
    MANAGE_LEADERBOARDS = "manage leaderboards"
    SEE_LEADERBOARDS = "see leaderboards"
    SUBMIT_PREDICTIONS = "submit predictions"
    REPORT_PROBLEMS = "report problems in released questions"


#: The roles that may do each action.
ROLES_BY_ACTION: dict[Action, frozenset[Role]] = {
    Action.MANAGE_PEOPLE: frozenset({Role.ADMIN}),
    Action.IMPORT_QUESTIONS: frozenset({Role.COORDINATOR}),
    Action.SEE_CHECKS: frozenset({Role.COORDINATOR}),
    Action.BROWSE: frozenset({Role.COORDINATOR}),
    Action.PROTECT_PATIENTS: frozenset({Role.COORDINATOR}),
    Action.DRAW_BATCH: frozenset({Role.COORDINATOR}),
    Action.ASSIGN: frozenset({Role.COORDINATOR}),
    Action.SEE_PROGRESS: frozenset({Role.COORDINATOR}),
    Action.MAKE_RELEASE: frozenset({Role.COORDINATOR}),
    Action.JUDGE: frozenset({Role.REVIEWER}),
    Action.ADJUDICATE: frozenset({Role.REVIEWER}),
    Action.SEE_AUDIT: frozenset({Role.ADMIN, Role.COORDINATOR}),
    Action.RUN_STUDY: frozenset({Role.COORDINATOR}),
    Action.READ: frozenset({Role.READER}),
    Action.MANAGE_MODELS: frozenset({Role.ADMIN}),
    Action.RUN_MODELS: frozenset({Role.COORDINATOR}),
    Action.MARK_ANSWERS: frozenset({Role.REVIEWER}),
    Action.SCORE_OUTPUTS: frozenset({Role.REVIEWER}),
    Action.MANAGE_LEADERBOARDS: frozenset({Role.COORDINATOR}),
    Action.SEE_LEADERBOARDS: frozenset({Role.COORDINATOR, Role.SUBMITTER}),
    Action.SUBMIT_PREDICTIONS: frozenset({Role.SUBMITTER}),
    Action.REPORT_PROBLEMS: frozenset({Role.COORDINATOR, Role.REVIEWER, Role.READER}),
}

#: Roles whose sign-ins expire earlier, because they can see or change data that others must not.
PRIVILEGED_ROLES = frozenset({Role.ADMIN, Role.COORDINATOR})

#: The actions that each role permits.
ACTIONS_BY_ROLE: dict[Role, frozenset[Action]] = {
    role: frozenset(action for action, roles in ROLES_BY_ACTION.items() if role in roles) for role in Role
}
