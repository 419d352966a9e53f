"""Makes one call to an endpoint through the SDK of OpenAI, and assigns a kind to every failure.

Only the headers in ``_SENT_HEADERS`` and the key of the endpoint are sent, because the SDK adds keys and
organisations from environment variables such as ``OPENAI_API_KEY``. Redirects are not followed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.language_models import DataUse, Endpoint, FailureKind
from language_models.keys import hide_key, read_key

if TYPE_CHECKING:  # importing the SDK takes a second; pages that make no call do not wait for it
    import httpx2
    import openai

_SENT_HEADERS = {
    "host", "accept", "accept-encoding", "connection", "content-length", "content-type", "transfer-encoding",
    "user-agent",
}  # fmt: skip
_CONNECT_SECONDS = 10.0
#: The maximum number of characters of a server's error in a message.
_MAX_ERROR_CHARACTERS = 500
_CONTEXT_CODES = ("context_length_exceeded", "exceed_context_size_error")
# The SDK and its HTTP library log addresses and, at their lowest level, bodies with patient data.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The body of a response with status 200, and the duration of the call."""

    raw: str
    seconds: float


class CallFailed(Exception):
    """A call has no response with status 200.

    Attributes:
        kind: the kind of failure.
        error: the reason, without keys and without the text of the request.
        raw: the body of the response; "" if there was none.
        retry_after: seconds that the server asks to wait; None if it does not.
        seconds: duration of the call.
    """

    def __init__(
        self,
        kind: FailureKind,
        error: str,
        *,
        raw: str = "",
        retry_after: float | None = None,
        seconds: float = 0.0,
        is_retryable: bool = True,
    ) -> None:
        super().__init__(error)
        self.kind, self.error, self.raw = kind, error, raw
        self.retry_after, self.seconds, self.is_retryable = retry_after, seconds, is_retryable


class ModelClient:
    """Calls one endpoint. Use it as an asynchronous context manager.

    Args:
        endpoint: the endpoint. The caller must check first that the dataset permits it.

    Raises:
        InvalidValue: the key of the endpoint is missing.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx2  # noqa: PLC0415 - see above
        import openai  # noqa: PLC0415 - see above

        self.endpoint = endpoint
        self._key = read_key(endpoint.key_name) if endpoint.key_name else None
        http = httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=endpoint.data_use is not DataUse.LOCAL,  # a proxy from the environment may not be local
            limits=httpx2.Limits(
                max_connections=endpoint.max_parallel, max_keepalive_connections=endpoint.max_parallel
            ),
            event_hooks={"request": [self._keep_own_headers]},
        )
        self._sdk = openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=endpoint.url,
            max_retries=0,  # http_driver.py retries
            timeout=httpx2.Timeout(endpoint.timeout_seconds, connect=_CONNECT_SECONDS),
            http_client=http,
        )

    async def __aenter__(self) -> ModelClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._sdk.close()

    async def send(self, body: Mapping[str, Any]) -> Response:
        """Send a request for a completion and wait for the whole response.

        Raises:
            CallFailed: there is no response with status 200.
        """
        return await self._post("/chat/completions", dict(body))

    async def embed(self, texts: Sequence[str]) -> Response:
        """Send a request for the embeddings of texts and wait for the whole response.

        Raises:
            CallFailed: there is no response with status 200.
        """
        body = {"model": self.endpoint.model, "input": list(texts), "encoding_format": "float"}
        return await self._post("/embeddings", body)

    async def _post(self, path: str, body: dict[str, Any]) -> Response:
        import httpx2  # noqa: PLC0415 - see above
        import openai  # noqa: PLC0415 - see above

        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.endpoint.timeout_seconds):  # also ends a slow reply
                response = await self._sdk.post(path, body=body, cast_to=httpx2.Response)
                raw = response.text
        except openai.APIStatusError as error:
            raise self._build_failure(error, time.perf_counter() - started) from None
        except (TimeoutError, openai.APITimeoutError):
            text = f"No complete reply within {self.endpoint.timeout_seconds} seconds."
            raise CallFailed(FailureKind.TIMEOUT, text, seconds=time.perf_counter() - started) from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            text = f"The connection to {self.endpoint.url} failed: {type(cause).__name__} {cause}".strip()
            raise CallFailed(
                FailureKind.CONNECTION,
                hide_key(text[:_MAX_ERROR_CHARACTERS], self._key),
                seconds=time.perf_counter() - started,
            ) from None
        return Response(raw=hide_key(raw, self._key), seconds=time.perf_counter() - started)

    async def _keep_own_headers(self, request: httpx2.Request) -> None:
        for name in list(request.headers):
            if name not in _SENT_HEADERS:
                del request.headers[name]
        if self._key:
            request.headers["authorization"] = f"Bearer {self._key}"

    def _build_failure(self, error: openai.APIStatusError, seconds: float) -> CallFailed:
        raw = hide_key(error.response.text, self._key)
        kind, is_retryable = classify_status(error.status_code, raw)
        message = _find_message(raw) or "no reason given"
        return CallFailed(
            kind,
            f"Status {error.status_code}: {message[:_MAX_ERROR_CHARACTERS]}",
            raw=raw,
            retry_after=_read_retry_after(error.response.headers),
            seconds=seconds,
            is_retryable=is_retryable,
        )


def classify_status(status: int, raw: str) -> tuple[FailureKind, bool]:
    """Return the kind of failure of a status other than 200, and whether the same call can succeed later."""
    code = _find_code(raw)
    lowered = raw.lower()
    if code == "insufficient_quota" or status in (401, 402, 403):
        return FailureKind.AUTHENTICATION, False
    if status == 429:
        return FailureKind.RATE_LIMIT, True
    if "content_filter" in lowered or "content_policy" in lowered:
        return FailureKind.CONTENT_FILTER, False
    if code in _CONTEXT_CODES or "maximum context length" in lowered:
        return FailureKind.CONTEXT_SIZE, False
    if status == 404:
        return FailureKind.NOT_FOUND, False
    if status in (408, 409, 500, 502, 503, 504) or status > 504:
        return FailureKind.SERVER_ERROR, True
    return FailureKind.BAD_REQUEST, False


def _parse_error(raw: str) -> Mapping[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {"message": error}


def _find_code(raw: str) -> str:
    error = _parse_error(raw)
    return str(error.get("code") if isinstance(error.get("code"), str) else error.get("type") or "")


def _find_message(raw: str) -> str:
    message = _parse_error(raw).get("message")
    return " ".join(str(message).split()) if message else " ".join(raw.split())


def _read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After; None if it is missing, invalid or a date."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 3600 else None
