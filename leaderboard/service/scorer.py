"""Loads the private keys of a leaderboard. Only the services that score import this module."""

from __future__ import annotations

import logging

from sqlmodel import Session

from domain.errors import InvalidValue, Refused
from domain.leaderboards import Leaderboard
from reader_study.release_keys import load_keys
from reader_study.scores import KeyedQuestion
from release.folder import MANIFEST, hash_file
from release.splits import Split
from storage.release import releases

_LOG = logging.getLogger(__name__)


def load_private_keys(db: Session, *, leaderboard: Leaderboard) -> dict[str, KeyedQuestion]:
    """Load the private questions with their keys, by id.

    Raises:
        Refused: the keys are missing or changed. The text names neither a path nor the content of a file,
            because submitters see it; the log of the server has the path.
    """
    release = releases.load_release(db, release_id=leaderboard.release_id)
    try:
        if hash_file(release.folder / MANIFEST)[0] != release.manifest_sha256:
            raise InvalidValue("release", "the manifest was changed")
        return load_keys(release.folder, split=Split.PRIVATE)
    except (OSError, InvalidValue, Refused) as error:
        # The text of the error may quote a line of the keys, so only its kind is logged.
        _LOG.warning(
            "leaderboard %s cannot score: the release in %s is incomplete or changed (%s)",
            leaderboard.id, release.folder, type(error).__name__,
        )  # fmt: skip
        raise Refused(
            f"The leaderboard {leaderboard.name} cannot score at the moment: the files of its release are "
            "missing or changed. Nothing was charged. Ask the coordinator to run `cli.py release verify`."
        ) from None
