"""Services for accounts, sign-ins and the audit trail.

As in all service packages: a function is one transaction, which the caller commits. ``by`` is the person who
acts; :class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time
that is stored.
"""

from accounts.claims import RoleClaim
from accounts.passwords import DEMO_PASSWORD
from accounts.service.attempts import Attempt, TooManyWrong, attempt_was_right, begin_attempt
from accounts.service.audit_trail import (
    AuditCheck,
    AuditFilter,
    ShownEntry,
    audit_choices,
    audit_entries,
    export_audit,
    verify_audit,
)
from accounts.service.backups import record_backup, record_restore
from accounts.service.first_admin import CODE_HOLDS, any_admin, become_first_admin, make_first_admin_code
from accounts.service.people import (
    add_person,
    any_people,
    change_roles,
    command_line_person,
    demo_people,
    disable_person,
    enable_person,
    list_people,
    people_with,
    person_named,
    set_password,
)
from accounts.service.presence import (
    IDLE_LIMIT,
    LONGEST,
    SEEN_EVERY,
    LiveSignIn,
    begin_sign_in,
    check_password,
    live_sign_in,
    note_seen,
    sign_out,
)
from accounts.service.provider import person_of_claims
from accounts.service.sign_ins import (
    OwnSignIn,
    change_own_password,
    end_own_sign_in,
    has_password,
    own_sign_ins,
    sign_out_everywhere,
    sign_out_person,
)
from accounts.tokens import token_sha256

__all__ = [
    "CODE_HOLDS",
    "DEMO_PASSWORD",
    "IDLE_LIMIT",
    "LONGEST",
    "SEEN_EVERY",
    "Attempt",
    "AuditCheck",
    "AuditFilter",
    "LiveSignIn",
    "OwnSignIn",
    "RoleClaim",
    "ShownEntry",
    "TooManyWrong",
    "add_person",
    "any_admin",
    "any_people",
    "attempt_was_right",
    "audit_choices",
    "audit_entries",
    "become_first_admin",
    "begin_attempt",
    "begin_sign_in",
    "change_own_password",
    "change_roles",
    "check_password",
    "command_line_person",
    "demo_people",
    "disable_person",
    "enable_person",
    "end_own_sign_in",
    "export_audit",
    "has_password",
    "list_people",
    "live_sign_in",
    "make_first_admin_code",
    "note_seen",
    "own_sign_ins",
    "people_with",
    "person_named",
    "person_of_claims",
    "record_backup",
    "record_restore",
    "set_password",
    "sign_out",
    "sign_out_everywhere",
    "sign_out_person",
    "token_sha256",
    "verify_audit",
]
