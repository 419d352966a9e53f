"""Services for leaderboards, for pages and commands.

Submitters see aggregate scores. Only the services that score load keys (:mod:`leaderboard.service.scorer`).
No service returns outcomes of single cases.
"""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from leaderboard.service.boards import (
        add_team,
        change_members,
        create_leaderboard,
        list_leaderboards,
        list_releases_with_private_split,
        list_teams,
        set_readers_reference,
        set_text_only_reference,
    )
    from leaderboard.service.standings import TeamStatus, load_standings, load_team_status, select_submission
    from leaderboard.service.submissions import (
        CheckedSubmission,
        check_submission,
        load_receipt,
        record_submission,
    )
    from leaderboard.service.versions import change_release
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "CheckedSubmission",
    "TeamStatus",
    "add_team",
    "change_members",
    "change_release",
    "check_submission",
    "create_leaderboard",
    "list_leaderboards",
    "list_releases_with_private_split",
    "list_teams",
    "load_receipt",
    "load_standings",
    "load_team_status",
    "record_submission",
    "select_submission",
    "set_readers_reference",
    "set_text_only_reference",
]
