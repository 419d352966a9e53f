"""Writes the replies of judges: valid ones, whose answers depend on the model and on words in the stem."""

from __future__ import annotations

import json
import re
from typing import Any

_WORD = re.compile(r"(\w+) denied by ((?:\w+ ?)+)\.")
_TIER = re.compile(r"(\w+) says (easy|medium|hard)\.")


def answer(body: dict[str, Any]) -> str:
    """The reply to a request of a jury.

    Every item is answered with yes and the difficulty with easy, unless the stem says "<item> denied by
    <model> <model>." or "<model> says <tier>.".
    """
    text, model = body["messages"][-1]["content"], body["model"]
    properties = body["response_format"]["json_schema"]["schema"]["properties"]
    denied = {item for item, models in _WORD.findall(text) if model in models.split()}
    tiers = dict(_TIER.findall(text))

    def choose(item: str) -> str:
        if item == "difficulty":
            return tiers.get(model, "easy")
        return "no" if item in denied else "yes"

    return json.dumps({item: {"reason": f"{model} on {item}", "answer": choose(item)} for item in properties})
