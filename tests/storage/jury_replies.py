"""The replies of judges: valid ones whose answers depend on the model and on words in the stem."""

from __future__ import annotations

import json
import re
from typing import Any

_WORD = re.compile(r"(\w+) denied by ((?:\w+ ?)+)\.")
_TIER = re.compile(r"(\w+) says (easy|medium|hard)\.")


def answer(body: dict[str, Any]) -> str:
    """The reply to a request of a jury.

    Every criterion is answered with yes and the difficulty with easy, unless the stem says
    "<criterion> denied by <model> <model>." or "<model> says <tier>.".
    """
    text, model = body["messages"][-1]["content"], body["model"]
    properties = body["response_format"]["json_schema"]["schema"]["properties"]
    denied = {criterion for criterion, models in _WORD.findall(text) if model in models.split()}
    tiers = dict(_TIER.findall(text))

    def choose(criterion: str) -> str:
        if criterion == "difficulty":
            return tiers.get(model, "easy")
        return "no" if criterion in denied else "yes"

    return json.dumps(
        {
            criterion: {"reason": f"{model} on {criterion}", "answer": choose(criterion)}
            for criterion in properties
        }
    )
