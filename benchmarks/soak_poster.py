"""A simulated reviewer who posts verdicts without pauses and resends each until it is acknowledged."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
from sqlalchemy import select

from accounts.service import load_person_by_name
from benchmarks.soak_world import PASSWORD, SoakWorkspace
from domain.ratings import RATING_IDS
from storage.rows.batches import AssignmentRow
from storage.unit_of_work import read_only_session

TIMEOUT_SECONDS = 10.0  # seconds after which a post counts as unanswered, as in the form


@dataclass(slots=True, kw_only=True)
class PostedVerdicts:
    """The comments of the acknowledged verdicts by (person, question), and the refusals."""

    acknowledged: dict[tuple[int, int], str] = field(default_factory=dict)
    unanswered: int = 0
    refused: list[str] = field(default_factory=list)


class Reviewer(threading.Thread):
    """A reviewer who judges one question after another and resends each verdict until it is acknowledged."""

    def __init__(
        self,
        name: str,
        workspace: SoakWorkspace,
        address: str,
        posted: PostedVerdicts,
        stop_event: threading.Event,
    ) -> None:
        """Sign in. ``stop_event`` ends the work after the current verdict."""
        super().__init__(daemon=True)
        self._posted, self._stop_event = posted, stop_event
        self._client = httpx.Client(base_url=address, timeout=TIMEOUT_SECONDS)
        with read_only_session(workspace.engine) as db:
            self._person_id = load_person_by_name(db, name=name).id
            own_questions = select(AssignmentRow.question_id).where(
                AssignmentRow.person_id == self._person_id
            )
            self.questions = list(db.execute(own_questions.order_by(AssignmentRow.position)).scalars())
        sign_in_page = self._client.get("/sign-in", timeout=30)
        token = sign_in_page.text.split('name="form_token" value="')[1].split('"')[0]
        fields = {"form_token": token, "name": name, "password": PASSWORD}
        if self._client.post("/sign-in", data=fields, timeout=30).status_code != 303:
            raise RuntimeError(f"{name} could not sign in")

    def run(self) -> None:
        """Judge until stopped or until all questions are judged."""
        for question in self.questions:
            comment = f"{self._person_id} on {question}: {random.getrandbits(64):x}"
            while not self._stop_event.is_set() and not self.post_verdict(question, comment):
                time.sleep(0.02)
            if self._stop_event.is_set():
                return

    def post_verdict(self, question: int, comment: str) -> bool:
        """Post one verdict; return whether it was acknowledged."""
        headers = {
            "X-Overread": "1",
            "X-Overread-Person": str(self._person_id),
            "Sec-Fetch-Site": "same-origin",
        }
        try:
            response = self._client.post(
                "/review/verdict", json=verdict_request(question, comment), headers=headers
            )
        except httpx.HTTPError:
            self._posted.unanswered += 1
            return False
        if response.status_code == 200:
            self._posted.acknowledged[self._person_id, question] = comment
            return True
        if response.status_code < 500:
            self._posted.refused.append(f"{response.status_code} {response.text[:200]}")
            self._stop_event.set()
        return False


def verdict_request(question: int, comment: str) -> dict[str, Any]:
    """Build the form's request: an acceptance with all ratings at 4."""
    opinion = {
        "ratings": dict.fromkeys(RATING_IDS, 4), "domain_specific": True, "cognitive_depth": False,
        "image_centric": None, "clinically_relevant": None, "difficulty": "easy", "errors": [],
        "correction": {}, "clinical_reasoning": "", "comment": comment,
    }  # fmt: skip
    times = {"seconds": 9.0, "seconds_looking": 8.0, "seconds_away": 0.0}
    return {"batch": 1, "question": question, "revision": 1, "decision": "accept", "opinion": opinion,
            "drawings": None, "change_reason": "", "image_display": "drawn", **times}  # fmt: skip
