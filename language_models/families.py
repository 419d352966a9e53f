"""Families of models: models of one family share training data and prefer each other's texts.

The family of an endpoint is declared by the admin. Without a declaration, and for models that are named in
the origin of a question, it is taken from the name of the model.
"""

from __future__ import annotations

import re

from domain.language_models import Endpoint

#: Parts of model names, in the order in which they are searched for, with their family. Fine-tuned models
#: belong to the family that they were trained from if their name states it.
_FAMILIES = (
    ("qwen", "qwen"), ("qwq", "qwen"), ("gemma", "gemma"), ("gemini", "gemini"), ("llama", "llama"),
    ("vicuna", "llama"), ("mistral", "mistral"), ("mixtral", "mistral"), ("pixtral", "mistral"),
    ("ministral", "mistral"), ("magistral", "mistral"), ("claude", "claude"), ("chatgpt", "gpt"),
    ("gpt", "gpt"), ("deepseek", "deepseek"), ("internvl", "internlm"), ("internlm", "internlm"),
    ("smollm", "smollm"), ("smolvlm", "smollm"), ("phi", "phi"), ("command", "cohere"), ("aya", "cohere"),
    ("chatglm", "glm"), ("glm", "glm"), ("kimi", "kimi"), ("grok", "grok"), ("granite", "granite"),
    ("nemotron", "nemotron"), ("molmo", "olmo"), ("olmo", "olmo"), ("minimax", "minimax"),
)  # fmt: skip
#: All families of the list above.
FAMILIES = tuple(dict.fromkeys(family for _, family in _FAMILIES))
_MIN_LENGTH_WITHIN_WORDS = 4  # letters; shorter parts must begin a word: phi is also in dolphin
_O_SERIES = re.compile(r"o[1-9]\b")
_MAX_LENGTH = 30  # letters of a family that is not in the list
_FIRST_WORD = re.compile(r"[a-z]+")


def infer_family(model: str) -> str:
    """Return the family of a model by its name; "" if the name has no letters.

    >>> infer_family("Qwen/Qwen2.5-VL-7B-Instruct"), infer_family("gpt-4o-2024-08-06")
    ('qwen', 'gpt')
    >>> infer_family("google/medgemma-4b-it"), infer_family("DeepSeek-R1-Distill-Llama-8B")
    ('gemma', 'llama')
    """
    # GPTQ is a way to compress a model of any family.
    name = model.strip().lower().rpartition("/")[2].replace("gptq", "")
    for part, family in _FAMILIES:
        if re.search(rf"(?<![a-z]){part}" if len(part) < _MIN_LENGTH_WITHIN_WORDS else part, name):
            return family
    if _O_SERIES.match(name):
        return "gpt"
    match = _FIRST_WORD.search(name)
    return match[0][:_MAX_LENGTH] if match else ""


def find_family(endpoint: Endpoint) -> str:
    """Return the declared family of an endpoint, or the one that the name of its model states."""
    return endpoint.family or infer_family(endpoint.model_name)
