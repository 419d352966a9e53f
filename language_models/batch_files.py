"""Lines of batch files: requests for OpenAI, Azure OpenAI and ``vllm run-batch``, and their results.

All three have the same lines except for the address. Results come in any order. Failures are in a separate
file (OpenAI, Azure) or among the other results (vLLM). So a line is matched by its ``custom_id`` only.

Sources: platform.openai.com/docs/guides/batch, learn.microsoft.com/azure/ai-services/openai/how-to/batch,
docs.vllm.ai/en/latest/examples/offline_inference/openai_batch.html.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from domain.errors import InvalidValue
from domain.language_models import FailureKind
from language_models.client import classify_status
from language_models.requests import Body
from records.decoding import make_decoder

#: The most lines and bytes that providers accept in a file; Azure accepts more lines.
MAX_LINES, MAX_BYTES = 50_000, 200_000_000
_MAX_ERROR_CHARACTERS = 500


class BatchFormat(StrEnum):
    """The provider or program that processes a batch file."""

    OPENAI = "openai"
    AZURE = "azure"
    VLLM = "vllm"


#: The address in each line. Azure's has no version.
_ADDRESSES = {
    BatchFormat.OPENAI: "/v1/chat/completions",
    BatchFormat.AZURE: "/chat/completions",
    BatchFormat.VLLM: "/v1/chat/completions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """A line of a file of results. ``raw`` is the response; ``failure`` is None if its status was 200."""

    custom_id: str
    raw: str
    failure: FailureKind | None = None
    error: str = ""


class _Response(msgspec.Struct):
    status_code: int = 200
    body: Any = None


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


_decoder = make_decoder(_Line)
_encoder = msgspec.json.Encoder()


def encode_batch_line(*, custom_id: str, body: Body, batch_format: BatchFormat) -> bytes:
    """Encode a request as a line without line break. ``body`` is the body as it is sent, with the model."""
    line = {"custom_id": custom_id, "method": "POST", "url": _ADDRESSES[batch_format], "body": body}
    return _encoder.encode(line)


def decode_batch_line(line: bytes) -> BatchResult:
    """Decode a line of a file of results or of errors.

    Raises:
        InvalidValue: the line is not a result, for example because the file was cut off.
    """
    try:
        parsed = _decoder.decode(line)
    except msgspec.DecodeError as error:
        raise InvalidValue("line", f"is not a result of a batch: {error}") from error
    response, body = parsed.response, parsed.response.body if parsed.response else None
    if response is not None and response.status_code == 200 and body is not None and not parsed.error:
        return BatchResult(custom_id=parsed.custom_id, raw=_encode_raw(body))
    details = body if body is not None else parsed.error
    raw = _encode_raw(details) if details is not None else ""
    return BatchResult(
        custom_id=parsed.custom_id, raw=raw, failure=_classify(response, raw), error=_describe(details)
    )


def _encode_raw(value: object) -> str:
    return value if isinstance(value, str) else _encoder.encode(value).decode()


def _classify(response: _Response | None, raw: str) -> FailureKind:
    if "batch_expired" in raw or "batch_cancelled" in raw:
        return FailureKind.EXPIRED
    if response is None or response.status_code == 200:  # an error without a status
        return FailureKind.SERVER_ERROR
    return classify_status(response.status_code, raw)[0]


def _describe(details: object) -> str:
    inner = details.get("error", details) if isinstance(details, dict) else details
    message = inner.get("message") if isinstance(inner, dict) else inner
    return str(message or "no reason given")[:_MAX_ERROR_CHARACTERS]
