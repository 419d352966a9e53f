"""Limits what a shipped prompt requests, for small models on local computers.

A small model repeats itself in a text or a list until its reply is cut off and cannot be used. Servers that
decode by the schema (llama.cpp, vLLM, Ollama) end a text and a list at their limits. The shipped prompts
limit no text, because some providers refuse such a schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from domain.errors import InvalidValue

#: The maximum number of characters of a text; a longer one is cut off.
TEXT_LENGTH = 120
#: The maximum number of tokens of a reply. Replies within the limits have up to about 1,700, at three
#: characters a token.
REPLY_TOKENS = 2000
#: The maximum number of entries of each list.
LIST_LENGTHS = {
    "pairs": 8,
    "regions": 2,
    "phrases": 3,
    "answers": 4,
    "structures": 5,
    "findings": 2,
    "details": 2,
    "sentences": 3,
    "bullets": 3,
}
#: Phrases of the prompts on the number of questions, with their replacements.
_COUNT_PHRASES = {
    (
        "3 open-ended questions, 2 closed-ended questions, 3 single-choice questions, and \\\n"
        "3 multi-choice questions"
    ): (
        "1 open-ended question, 1 closed-ended question, 1 single-choice question, and \\\n"
        "1 multi-choice question"
    ),
    "up to five questions": "up to two questions",
}

#: Lists that must have an entry, because a question or a bullet cannot do without one.
_NEEDED_LISTS = {"regions", "phrases", "answers", "sentences", "bullets"}
_INTEGER = re.compile(r'^(properties\.[\w.]+)\.type = "integer"$', re.MULTILINE)
_FREE_TEXT = re.compile(r'^(properties\.[\w.]+)\.type = "string"\n(?!\1\.enum)', re.MULTILINE)
_LIST = re.compile(r"^properties\.(\w+)\.maxItems = \d+$", re.MULTILINE)
_REQUIRED_NUMBERS = re.compile(r'^required = \[("1"(?:, "\d+")*)\]$', re.MULTILINE)
_NUMBERED = re.compile(r"^properties\.(\d+)\.anyOf = .*\n", re.MULTILINE)


def shorten_replies(content: str) -> str:
    """Return a shipped prompt file that requests fewer questions, shorter lists and shorter texts.

    GEMeX's second stage then has one question of each format, ReXVQA's two questions.

    Raises:
        InvalidValue: a list of the file has no known limit.
    """
    for phrase, replacement in _COUNT_PHRASES.items():
        content = content.replace(phrase, replacement)
    content = _FREE_TEXT.sub(rf"\g<0>\1.maxLength = {TEXT_LENGTH}\n", content)
    content = _LIST.sub(_limit_list, content)
    content = _INTEGER.sub(r"\g<0>\n\1.minimum = 1", content)
    content = re.sub(r"max_tokens = \d+", f"max_tokens = {REPLY_TOKENS}", content)
    # Every block of numbered questions requires its numbers before it defines them.
    first, *blocks = _REQUIRED_NUMBERS.split(content)
    shortened = [first]
    for numbers, block in zip(blocks[::2], blocks[1::2], strict=True):
        kept_count = max(1, len(numbers.split(", ")) // 2)
        shortened.append(
            "required = [" + ", ".join(f'"{number}"' for number in range(1, kept_count + 1)) + "]"
        )
        shortened.append(
            _NUMBERED.sub(lambda match, count=kept_count: match[0] * (int(match[1]) <= count), block)
        )
    return "".join(shortened)


def limit_numbers(schema: Mapping[str, Any], *, lines: int) -> dict[str, Any]:
    """Return the schema of a shortened prompt, with integers from 1 to the number of numbered lines.

    A small model otherwise refers to lines that the request does not have.
    """
    limited = {
        name: limit_numbers(value, lines=lines) if isinstance(value, Mapping) else value
        for name, value in schema.items()
    }
    return {**limited, "maximum": lines} if limited.get("type") == "integer" else limited


def _limit_list(match: re.Match[str]) -> str:
    name = match[1]
    if name not in LIST_LENGTHS:
        raise InvalidValue("prompt", f"has the list {name}, which has no limit for short replies")
    min_items = f"properties.{name}.minItems = 1\n" if name in _NEEDED_LISTS else ""
    return f"{min_items}properties.{name}.maxItems = {LIST_LENGTHS[name]}"
