"""The pages of the app, in the order of the navigation, with their stages and permissions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from domain.access import Action
from domain.people import Person

ROOT = Path(__file__).resolve().parent.parent
#: The maximum number of pages in a navigation without headings.
_PAGES_WITHOUT_HEADINGS = 7


class Stage(StrEnum):
    """The headings of the navigation, in their order. Pages of NONE come first, without a heading."""

    NONE = ""
    DATA = "Data"
    REVIEW = "Review"
    RESULTS = "Results"
    STUDIES = "Studies"
    MODELS = "Models"
    ADMINISTRATION = "Administration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the app.

    Attributes:
        file: the path of the script, relative to the project folder.
        title: the title in the navigation and in the browser's tab.
        icon: the icon in the navigation.
        action: the permission that the page requires; None if everybody who is signed in may open it.
        stage: the heading in the navigation.
        wide: whether the page shows a radiograph. The navigation is then only as wide as its icons.
    """

    file: str
    title: str
    icon: str
    action: Action | None
    stage: Stage = Stage.NONE
    wide: bool = False

    @property
    def path(self) -> Path:
        """Return the absolute path of the script, which does not depend on how the app is started."""
        return ROOT / self.file


HOME = Page(file="pages/home.py", title="Home", icon=":material/home:", action=None)
PAGES = (
    HOME,
    Page(
        file="pages/import_questions.py",
        title="Import",
        icon=":material/upload_file:",
        action=Action.IMPORT_QUESTIONS,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/generate.py",
        title="Generate",
        icon=":material/edit_note:",
        action=Action.IMPORT_QUESTIONS,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/checks.py",
        title="Checks",
        icon=":material/rule:",
        action=Action.SEE_CHECKS,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/duplicates.py",
        title="Near-duplicates",
        icon=":material/content_copy:",
        action=Action.IMPORT_QUESTIONS,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/compliance.py",
        title="Compliance",
        icon=":material/policy:",
        action=Action.IMPORT_QUESTIONS,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/taxonomy.py",
        title="Taxonomy",
        icon=":material/account_tree:",
        action=Action.IMPORT_QUESTIONS,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/browse.py",
        title="Browse",
        icon=":material/search:",
        action=Action.BROWSE,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/statistics.py",
        title="Statistics",
        icon=":material/bar_chart:",
        action=Action.BROWSE,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/patient_data.py",
        title="Patient data",
        icon=":material/shield_person:",
        action=Action.PROTECT_PATIENTS,
        stage=Stage.DATA,
    ),
    Page(
        file="pages/sampling.py",
        title="Draw a batch",
        icon=":material/casino:",
        action=Action.DRAW_BATCH,
        stage=Stage.REVIEW,
    ),
    Page(
        file="pages/assign.py",
        title="Batches",
        icon=":material/group_work:",
        action=Action.ASSIGN,
        stage=Stage.REVIEW,
    ),
    Page(
        file="pages/progress.py",
        title="Progress",
        icon=":material/monitoring:",
        action=Action.SEE_PROGRESS,
        stage=Stage.REVIEW,
    ),
    Page(
        file="pages/review.py",
        title="Review",
        icon=":material/radiology:",
        action=Action.JUDGE,
        stage=Stage.REVIEW,
        wide=True,
    ),
    Page(
        file="pages/adjudicate.py",
        title="Adjudicate",
        icon=":material/gavel:",
        action=Action.ADJUDICATE,
        stage=Stage.REVIEW,
        wide=True,
    ),
    Page(
        file="pages/agreement.py",
        title="Agreement",
        icon=":material/handshake:",
        action=Action.SEE_PROGRESS,
        stage=Stage.RESULTS,
    ),
    Page(
        file="pages/attention.py",
        title="Reviewer attention",
        icon=":material/visibility_lock:",
        action=Action.SEE_PROGRESS,
        stage=Stage.RESULTS,
    ),
    Page(
        file="pages/estimates.py",
        title="Dataset estimates",
        icon=":material/functions:",
        action=Action.SEE_PROGRESS,
        stage=Stage.RESULTS,
    ),
    Page(
        file="pages/releases.py",
        title="Releases",
        icon=":material/inventory_2:",
        action=Action.MAKE_RELEASE,
        stage=Stage.RESULTS,
    ),
    Page(
        file="pages/errata.py",
        title="Errata",
        icon=":material/report:",
        action=Action.REPORT_PROBLEMS,
        stage=Stage.RESULTS,
    ),
    Page(
        file="pages/studies.py",
        title="Reader studies",
        icon=":material/groups:",
        action=Action.RUN_STUDY,
        stage=Stage.STUDIES,
    ),
    Page(
        file="pages/read.py",
        title="Read",
        icon=":material/visibility:",
        action=Action.READ,
        stage=Stage.STUDIES,
        wide=True,
    ),
    Page(
        file="pages/mark_answers.py",
        title="Mark study answers",
        icon=":material/spellcheck:",
        action=Action.MARK_ANSWERS,
        stage=Stage.STUDIES,
    ),
    Page(
        file="pages/evaluations.py",
        title="Evaluations",
        icon=":material/leaderboard:",
        action=Action.RUN_MODELS,
        stage=Stage.MODELS,
    ),
    Page(
        file="pages/model_scores.py",
        title="Model scores",
        icon=":material/scoreboard:",
        action=Action.RUN_MODELS,
        stage=Stage.MODELS,
    ),
    Page(
        file="pages/leaderboards.py",
        title="Leaderboards",
        icon=":material/trophy:",
        action=Action.SEE_LEADERBOARDS,
        stage=Stage.MODELS,
    ),
    Page(
        file="pages/model_runs.py",
        title="Model runs",
        icon=":material/conversion_path:",
        action=Action.RUN_MODELS,
        stage=Stage.MODELS,
    ),
    Page(
        file="pages/prompts.py",
        title="Prompts",
        icon=":material/edit_note:",
        action=Action.RUN_MODELS,
        stage=Stage.MODELS,
    ),
    Page(
        file="pages/prompt_bench.py",
        title="Prompt bench",
        icon=":material/balance:",
        action=Action.RUN_MODELS,
        stage=Stage.MODELS,
    ),
    Page(
        file="pages/score_outputs.py",
        title="Score model outputs",
        icon=":material/star_rate:",
        action=Action.SCORE_OUTPUTS,
        stage=Stage.MODELS,
    ),
    Page(
        file="pages/people.py",
        title="People",
        icon=":material/group:",
        action=Action.MANAGE_PEOPLE,
        stage=Stage.ADMINISTRATION,
    ),
    Page(
        file="pages/endpoints.py",
        title="Language models",
        icon=":material/dns:",
        action=Action.MANAGE_MODELS,
        stage=Stage.ADMINISTRATION,
    ),
    Page(
        file="pages/audit.py",
        title="Audit trail",
        icon=":material/history_edu:",
        action=Action.SEE_AUDIT,
        stage=Stage.ADMINISTRATION,
    ),
    Page(file="pages/account.py", title="My account", icon=":material/account_circle:", action=None),
)

#: Actions on a page that another action opens: coordinators manage leaderboards and submitters submit there.
ACTIONS_WITHIN_PAGES = frozenset({Action.MANAGE_LEADERBOARDS, Action.SUBMIT_PREDICTIONS})


def list_permitted_pages(person: Person) -> list[Page]:
    """Return the pages that the person's roles permit, in the order of the navigation."""
    return [page for page in PAGES if page.action is None or person.may(page.action)]


def group_pages_by_stage(person: Person) -> dict[Stage, list[Page]]:
    """Return the permitted pages by heading. A short navigation has no headings."""
    pages = list_permitted_pages(person)
    if len(pages) <= _PAGES_WITHOUT_HEADINGS:
        return {Stage.NONE: pages}
    return {
        stage: stage_pages
        for stage in Stage
        if (stage_pages := [page for page in pages if page.stage is stage])
    }
