"""Services for prompt versions. A stored version never changes; a correction is the next version."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound
from domain.people import Action, Person, require
from language_models.prompts import hash_prompt, normalise_prompt, parse_prompt
from storage.language_models import prompts as prompt_storage
from storage.language_models.prompts import PromptVersion

__all__ = ["PromptVersion", "list_prompts", "load_prompt", "save_prompt", "save_shipped_prompt"]

_SHIPPED_NOTE = "Shipped with Overread."


def save_prompt(
    db: Session, *, by: Person, content: str, note: str, now: datetime
) -> tuple[PromptVersion, bool]:
    """Store a prompt file as the next version of its name, unless it equals the newest one.

    Args:
        db: a session that can write.
        by: the acting person.
        content: the prompt file.
        note: what changed, or the purpose of a first version.
        now: the current time.

    Returns:
        The version, and whether it is new.

    Raises:
        InvalidValue: the file is not valid, or the note is empty.
    """
    require(by, Action.RUN_MODELS)
    prompt = parse_prompt(content)
    sha256 = hash_prompt(content)
    newest = prompt_storage.find_prompt(db, label=prompt.name)
    if newest is not None and newest.sha256 == sha256:
        return newest, False
    if not note.strip():
        raise InvalidValue("note", "must state what changed, or the purpose of a first version")
    version = prompt_storage.add_prompt(
        db,
        name=prompt.name,
        sha256=sha256,
        content=normalise_prompt(content),
        note=note.strip(),
        person_id=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action="save prompt",
        subject=f"prompt {version.id}",
        new={"name": version.label, "sha256": sha256},
        reason=version.note,
        now=now,
    )
    return version, True


def save_shipped_prompt(db: Session, *, by: Person, content: str, now: datetime) -> PromptVersion:
    """Return the version of a prompt file that ships with Overread; it is stored if no version equals it."""
    require(by, Action.RUN_MODELS)
    name, sha256 = parse_prompt(content).name, hash_prompt(content)
    for version in prompt_storage.list_prompts(db):
        if version.name == name and version.sha256 == sha256:
            return version
    return save_prompt(db, by=by, content=content, note=_SHIPPED_NOTE, now=now)[0]


def list_prompts(db: Session, *, by: Person) -> list[PromptVersion]:
    """List all versions of all prompts, by name, the newest first."""
    require(by, Action.RUN_MODELS)
    return prompt_storage.list_prompts(db)


def load_prompt(db: Session, *, by: Person, label: str) -> PromptVersion:
    """Load a version such as ``mcq@2``, or the newest one of ``mcq``.

    Raises:
        NotFound: there is no such version.
    """
    require(by, Action.RUN_MODELS)
    prompt = prompt_storage.find_prompt(db, label=label)
    if prompt is None:
        raise NotFound(f"There is no prompt {label!r}. `cli.py prompt list` shows all.")
    return prompt
