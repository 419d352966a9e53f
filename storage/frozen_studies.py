"""Triggers that freeze a reader study in the database once its first answer is saved."""

from __future__ import annotations

from sqlalchemy import Connection

_SLOT, _STUDY = "study_slot", "reader_study"
#: The frozen columns: all except the state, because a study can be closed and reopened.
_FROZEN_COLUMNS = ("name", "dataset_id", "source_kind", "source_name", "design", "simulated")
_MESSAGE = "the reader study is frozen: its first reading is in"


def freeze_when_read(connection: Connection) -> None:
    """Refuse changes to slots and design after the first reading. Imported readings do not count here."""
    if connection.dialect.name == "sqlite":
        for verb, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")):
            connection.exec_driver_sql(
                f"CREATE TRIGGER {_SLOT}_frozen_{verb.lower()} BEFORE {verb} ON {_SLOT} "
                f"WHEN {_is_read(f'{row}.study_id')} BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
            )
        connection.exec_driver_sql(
            f"CREATE TRIGGER {_STUDY}_frozen BEFORE UPDATE OF {', '.join(_FROZEN_COLUMNS)} ON {_STUDY} "
            f"WHEN {_is_read('OLD.id')} BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
        )
        return
    set_study_id = {
        "slot": "IF TG_OP = 'INSERT' THEN which := NEW.study_id; ELSE which := OLD.study_id; END IF;",
        "study": "which := OLD.id;",
    }
    for name, assignment in set_study_id.items():
        connection.exec_driver_sql(
            f"CREATE FUNCTION refuse_{name}_when_read() RETURNS trigger LANGUAGE plpgsql AS $$ "
            f"DECLARE which integer; BEGIN {assignment} "
            f"IF {_is_read('which')} THEN RAISE EXCEPTION '{_MESSAGE}'; END IF; "
            "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"
        )
    connection.exec_driver_sql(
        f"CREATE TRIGGER {_SLOT}_frozen BEFORE INSERT OR UPDATE OR DELETE ON {_SLOT} "
        "FOR EACH ROW EXECUTE FUNCTION refuse_slot_when_read()"
    )
    connection.exec_driver_sql(
        f"CREATE TRIGGER {_STUDY}_frozen BEFORE UPDATE OF {', '.join(_FROZEN_COLUMNS)} ON {_STUDY} "
        "FOR EACH ROW EXECUTE FUNCTION refuse_study_when_read()"
    )


def unfreeze(connection: Connection) -> None:
    """Undo :func:`freeze_when_read`."""
    if connection.dialect.name == "sqlite":
        for name in (
            *(f"{_SLOT}_frozen_{verb}" for verb in ("insert", "update", "delete")),
            f"{_STUDY}_frozen",
        ):
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        return
    connection.exec_driver_sql(f"DROP TRIGGER {_SLOT}_frozen ON {_SLOT}")
    connection.exec_driver_sql(f"DROP TRIGGER {_STUDY}_frozen ON {_STUDY}")
    for name in ("slot", "study"):
        connection.exec_driver_sql(f"DROP FUNCTION refuse_{name}_when_read()")


def _is_read(study: str) -> str:
    return f"EXISTS (SELECT 1 FROM reading WHERE study_id = {study} AND NOT outside)"  # noqa: S608 - our own names
