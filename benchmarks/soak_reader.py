"""A simulated reviewer who signs in over HTTP, keeps a Streamlit session, and judges by the form's routes.

Like a browser, it uses the sign-in form with its token and argon2, the cookie, the gate, and the websocket
with Streamlit's own messages (the page's first run, and the form's trigger "go" for the next question). It
takes the sheet from the server's messages, fetches the pixels of each radiograph once, and sends drafts while
thinking, the verdict with its full content, and the viewing time. A request without a response within the
form's timeout is sent again with the same revision. Unlike a browser, it runs no JavaScript, paints nothing,
and does not fetch the static files of Streamlit and of the form.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from benchmarks.soak_world import PASSWORD

TIMEOUT_SECONDS = 10.0  # seconds after which a request counts as unanswered, as in the form
_FORM_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')
#: The id of the form's trigger, which is a widget; the placeholder is the id of the form's component.
_TRIGGER_ID = "$$STREAMLIT_INTERNAL_KEY_{}__events"
_DUPLICATE_PROBABILITY = 0.05  # share of verdicts that are sent twice at once, as by a bad network


@dataclass(slots=True, kw_only=True)
class ReaderTimings:
    """The measurements of all reviewers in seconds. ``acknowledged`` must be in the database afterwards."""

    sign_ins: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)
    drafts: list[float] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)
    acknowledged: dict[tuple[int, int], str] = field(default_factory=dict)
    duplicate_posts: int = 0
    retries: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class SimulatedReader:
    """A simulated reviewer.

    ``seed`` determines thinking times and content. ``thinking_seconds`` is the mean thinking time.
    """

    name: str
    address: str
    verdicts: int
    thinking_seconds: float
    seed: int
    timings: ReaderTimings
    _client: httpx.AsyncClient = field(init=False)
    _socket: ClientConnection = field(init=False)
    _rng: random.Random = field(init=False)
    _page: dict[str, str] = field(init=False, default_factory=dict)
    _request_number: int = field(init=False, default=0)
    _fetched: set[str] = field(init=False, default_factory=set)

    async def judge_all(self) -> None:
        """Sign in, open the review page, and judge until the number is reached."""
        self._rng = random.Random(self.seed)
        async with httpx.AsyncClient(base_url=self.address, timeout=300) as self._client:
            await self._sign_in()
            address = self.address.replace("http", "ws") + "/_stcore/stream"
            cookie = f"overread={self._client.cookies['overread']}"
            async with connect(
                address, origin=Origin(self.address), additional_headers={"Cookie": cookie}, max_size=None,
                subprotocols=[Subprotocol("streamlit"), Subprotocol("no-xsrf-token")], open_timeout=60,
            ) as self._socket:  # fmt: skip
                sheet = await self._open_review()
                for _ in range(self.verdicts):
                    sheet = await self._judge_question(sheet)

    async def _sign_in(self) -> None:
        start = time.perf_counter()
        sign_in_page = await self._client.get("/sign-in")
        token_match = _FORM_TOKEN.search(sign_in_page.text)
        fields = {
            "form_token": token_match[1] if token_match else "",
            "name": self.name,
            "password": PASSWORD,
        }
        response = await self._client.post("/sign-in", data=fields)
        if response.status_code != 303:
            raise RuntimeError(f"{self.name} could not sign in: {response.status_code}")
        self.timings.sign_ins.append(time.perf_counter() - start)

    # ------------------------------------------------------------------------------------- the page's session
    async def _open_review(self) -> dict[str, Any]:
        message = BackMsg()
        message.rerun_script.page_name = "review"
        await self._socket.send(message.SerializeToString())
        sheet = await self._receive_sheet(number=0)
        await self._fetch_images(sheet)
        return sheet

    async def _go_to(self, sheet: dict[str, Any], target: object) -> dict[str, Any]:
        """Send the form's "go": a trigger of the component, answered by a run of the page's fragment."""
        self._request_number += 1
        value = {
            "target": target,
            "number": self._request_number,
            "from": sheet["batch"],
            "after": sheet["question"],
        }
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = f"batch={sheet['batch']}&question={sheet['question']}"
        rerun.page_script_hash, rerun.fragment_id = self._page["script"], self._page["fragment"]
        rerun.widget_states.widgets.add(
            id=_TRIGGER_ID.format(self._page["component"]),
            json_trigger_value=json.dumps([{"event": "go", "value": value}]),
        )
        start = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        sheet_data = await self._receive_sheet(number=self._request_number)
        self.timings.runs.append(time.perf_counter() - start)
        return sheet_data

    async def _receive_sheet(self, *, number: int) -> dict[str, Any]:
        """Receive what the page's script shows in a run: the form's data, or {} when all is judged."""
        while True:
            received = await asyncio.wait_for(self._socket.recv(), timeout=120)
            message = ForwardMsg()
            message.ParseFromString(received if isinstance(received, bytes) else received.encode())
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self._page["script"] = message.navigation.page_script_hash
            elif kind == "auth_redirect":
                raise RuntimeError(f"{self.name} was sent to the sign-in page")
            elif kind == "delta":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise RuntimeError(f"{self.name}: the page failed: {element.exception.message}")
                if element.WhichOneof("type") == "bidi_component":
                    component = element.bidi_component
                    data: dict[str, Any] = json.loads(component.json or component.mixed.json)
                    if "requestNumber" not in data:  # another part of the page: the status of the connection
                        continue
                    self._page |= {"component": component.id, "fragment": message.delta.fragment_id}
                    if data["requestNumber"] == number:
                        return data
                if element.WhichOneof("type") == "markdown" and "review is complete" in element.markdown.body:
                    return {}

    async def _fetch_images(self, sheet: dict[str, Any]) -> None:
        """Fetch the pixels of radiographs that this client does not have yet."""
        radiographs = [radiograph for radiograph in sheet.get("radiographs", ()) if "pixelsUrl" in radiograph]
        for image in [*radiographs, *sheet.get("upcoming", ())]:
            for address in (image["metadataUrl"], image["pixelsUrl"]):
                if address not in self._fetched:
                    self._fetched.add(address)
                    (await self._client.get(address)).raise_for_status()

    # ------------------------------------------------------------------------------------------- one question
    async def _judge_question(self, sheet: dict[str, Any]) -> dict[str, Any]:
        if not sheet:
            raise RuntimeError(f"{self.name} was informed that nothing is left")
        question_reference = {"batch": sheet["batch"], "question": sheet["question"]}
        opinion = self._build_opinion(sheet)
        seconds = self._rng.expovariate(1 / self.thinking_seconds) if self.thinking_seconds else 0.0
        await asyncio.sleep(seconds * 0.4)
        await self._save_draft(
            sheet, question_reference, {**opinion, "comment": "", "change_reason": ""}, revision=0
        )
        await asyncio.sleep(seconds * 0.4)
        await self._save_draft(sheet, question_reference, {**opinion, "change_reason": ""}, revision=1)
        await asyncio.sleep(seconds * 0.2)
        times = {"seconds": seconds, "seconds_looking": seconds, "seconds_away": 0}
        body = {**question_reference, "revision": sheet["revision"], "decision": "accept", "opinion": opinion,
                "drawings": None, "change_reason": "", "image_display": "drawn", **times}  # fmt: skip
        next_sheet = await self._save_verdict(sheet, body)
        # If the response has the next question, the page's script is notified; otherwise it is asked for one.
        final_times = asyncio.create_task(
            self._post_optional("viewing-times", sheet, {**question_reference, **times})
        )
        if next_sheet is None:
            next_sheet = await self._go_to(sheet, "next")
            await final_times
            return next_sheet
        await self._fetch_images(next_sheet)
        await asyncio.gather(final_times, self._go_to(sheet, next_sheet["question"]))
        return next_sheet

    async def _save_verdict(self, sheet: dict[str, Any], body: dict[str, Any]) -> dict[str, Any] | None:
        """Return the next question from the response; None if none is left."""
        if self._rng.random() < _DUPLICATE_PROBABILITY:
            self.timings.duplicate_posts += 1
            saved, second_saved = await asyncio.gather(
                *(self._post_until_saved(sheet, body) for _ in range(2))
            )
            if (saved["revision"], saved["at"]) != (second_saved["revision"], second_saved["at"]):
                self.timings.problems.append(
                    f"{self.name}: sent twice, and the two responses state different times"
                )
        else:
            saved = await self._post_until_saved(sheet, body)
        self.timings.acknowledged[(sheet["person"], sheet["question"])] = body["opinion"]["comment"]
        return saved.get("next")

    async def _post_until_saved(self, sheet: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        """Resend until acknowledged: the form keeps unsaved input, and the person tries again."""
        for attempt in range(100):
            start = time.perf_counter()
            try:
                response = await self._post("verdict", sheet, body)
            except httpx.HTTPError as error:
                self.timings.problems.append(f"{self.name}: {type(error).__name__}")
            else:
                self.timings.saves.append(time.perf_counter() - start)
                if response.status_code == 200:
                    saved: dict[str, Any] = response.json()
                    return saved
                self.timings.problems.append(f"{self.name}: {response.status_code} {response.text[:200]}")
                if response.status_code < 500:
                    raise RuntimeError(self.timings.problems[-1])
            self.timings.retries += 1
            await asyncio.sleep(1 + attempt / 10)
        raise RuntimeError(f"{self.name} could not save")

    async def _save_draft(
        self,
        sheet: dict[str, Any],
        question_reference: dict[str, int],
        draft: dict[str, Any],
        *,
        revision: int,
    ) -> None:
        start = time.perf_counter()
        response = await self._post_optional(
            "draft", sheet, {**question_reference, "part": "form", "revision": revision, "body": draft}
        )
        if response is not None and response.status_code == 200:
            self.timings.drafts.append(time.perf_counter() - start)

    async def _post_optional(
        self, action: str, sheet: dict[str, Any], body: dict[str, Any]
    ) -> httpx.Response | None:
        try:
            response = await self._post(action, sheet, body)
        except httpx.HTTPError as error:
            self.timings.problems.append(f"{self.name}: {action}: {type(error).__name__}")
            return None
        if response.status_code != 200:
            self.timings.problems.append(
                f"{self.name}: {action}: {response.status_code} {response.text[:200]}"
            )
        return response

    async def _post(self, action: str, sheet: dict[str, Any], body: dict[str, Any]) -> httpx.Response:
        headers = {
            "X-Overread": "1",
            "X-Overread-Person": str(sheet["person"]),
            "Sec-Fetch-Site": "same-origin",
        }
        return await self._client.post(
            f"/review/{action}", json=body, headers=headers, timeout=TIMEOUT_SECONDS
        )

    def _build_opinion(self, sheet: dict[str, Any]) -> dict[str, Any]:
        """Build the opinion as the form sends it. The comment identifies this verdict."""
        comment = f"{self.name} on {sheet['question']}: {self._rng.getrandbits(64):x}"
        return {
            "ratings": {rating["name"]: self._rng.randint(1, 5) for rating in sheet["requested"]["ratings"]},
            "domain_specific": True,
            "cognitive_depth": False,
            "image_centric": None,
            "clinically_relevant": None,
            "difficulty": self._rng.choice(["easy", "medium", "hard"]),
            "errors": [],
            "correction": {},
            "clinical_reasoning": "",
            "comment": comment,
        }
