"""Takes a checkpoint of the audit trail after the work of a command."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from accounts.service.audit_checkpoints import current_deposits, take_checkpoint
from domain.errors import DomainError
from storage.workspace import current_workspace


def take_checkpoint_after_job() -> None:
    """Take a checkpoint. A failure is printed; the result of the command stays valid."""
    try:
        workspace = current_workspace()
        take_checkpoint(
            by=command_line_person(),
            workspace=workspace,
            deposits=current_deposits(workspace),
            clock=lambda: datetime.now(UTC),
        )
    except (DomainError, OSError) as error:
        print(f"The audit trail's checkpoint failed: {error}", file=sys.stderr)
