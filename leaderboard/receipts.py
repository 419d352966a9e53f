"""The receipt of a submission: hashes of all that its score depends on, and the remaining quotas."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from domain.leaderboards import DisclosedScore, Leaderboard, QuotaUse, Submission, Team

FORMAT = "overread.receipt/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The receipt of a submission.

    ``score`` is None if the Ladder kept the former score, which is ``displayed``. ``is_repeated`` is True if
    the team had submitted the same file before: nothing was charged, and the receipt of the first
    submission is returned.
    """

    leaderboard: Leaderboard
    team: Team
    submission: Submission
    score: DisclosedScore | None
    displayed: DisclosedScore | None
    remaining: QuotaUse
    code_version: str
    is_repeated: bool = False

    def to_json(self) -> str:
        """Return the receipt as JSON, with the SHA-256 of its content except the quotas."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "submission": self.submission.id,
            "leaderboard": self.leaderboard.name,
            "version": self.leaderboard.version,
            "team": self.team.name,
            "method": self.submission.details.method,
            "access": self.submission.details.access.value,
            "public": self.submission.details.is_public,
            "submitted_at": self.submission.submitted_at.isoformat(),
            "file_sha256": self.submission.file_sha256,
            "file_bytes": self.submission.file_bytes,
            "release": f"{self.leaderboard.dataset} {self.leaderboard.release}",
            "manifest_sha256": self.leaderboard.manifest_sha256,
            "keys_sha256": self.leaderboard.keys_sha256,
            "code": self.code_version,
            "score": None if self.score is None else score_to_plain(self.score),
        }
        canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        content["receipt_sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
        content["remaining"] = asdict(self.remaining)
        return json.dumps(content, ensure_ascii=False, indent=2)


def score_to_plain(score: DisclosedScore) -> dict[str, Any]:
    """Return a score as JSON values; ``accuracy`` and limits are fractions."""
    return {
        "n": score.n,
        "correct": score.correct,
        "accuracy": score.estimate,
        "low": score.low,
        "high": score.high,
    }
