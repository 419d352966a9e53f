"""Services for accounts, sign-ins and the audit trail.

As in all service packages: a function is one transaction, which the caller commits. ``by`` is the person who
acts; :class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time
that is stored.
"""

from accounts.claims import RoleClaim
from accounts.passwords import DEMO_PASSWORD
from accounts.service.attempts import Attempt, TooManyAttempts, clear_attempt, begin_attempt
from accounts.service.audit_trail import (
    AuditCheck,
    AuditFilter,
    VisibleEntry,
    list_audit_choices,
    list_audit_entries,
    export_audit,
    verify_audit,
)
from accounts.service.backups import record_backup, record_restore
from accounts.service.first_admin import CODE_LIFETIME, has_admin, become_first_admin, create_first_admin_code
from accounts.service.people import (
    add_person,
    has_people,
    change_roles,
    command_line_person,
    list_demo_people,
    disable_person,
    enable_person,
    list_people,
    list_people_with_role,
    load_person_by_name,
    set_password,
)
from accounts.service.presence import (
    IDLE_LIMIT,
    MAX_DURATION,
    LAST_SEEN_INTERVAL,
    ValidSignIn,
    start_sign_in,
    authenticate,
    find_valid_sign_in,
    update_last_seen,
    sign_out,
)
from accounts.service.provider import find_person_by_claims
from accounts.service.sign_ins import (
    OwnSignIn,
    change_own_password,
    end_own_sign_in,
    has_password,
    list_own_sign_ins,
    sign_out_everywhere,
    sign_out_person,
)
from accounts.tokens import token_sha256

__all__ = [
    "CODE_LIFETIME",
    "DEMO_PASSWORD",
    "IDLE_LIMIT",
    "MAX_DURATION",
    "LAST_SEEN_INTERVAL",
    "Attempt",
    "AuditCheck",
    "AuditFilter",
    "ValidSignIn",
    "OwnSignIn",
    "RoleClaim",
    "VisibleEntry",
    "TooManyAttempts",
    "add_person",
    "has_admin",
    "has_people",
    "clear_attempt",
    "list_audit_choices",
    "list_audit_entries",
    "become_first_admin",
    "begin_attempt",
    "start_sign_in",
    "change_own_password",
    "change_roles",
    "authenticate",
    "command_line_person",
    "list_demo_people",
    "disable_person",
    "enable_person",
    "end_own_sign_in",
    "export_audit",
    "has_password",
    "list_people",
    "find_valid_sign_in",
    "create_first_admin_code",
    "update_last_seen",
    "list_own_sign_ins",
    "list_people_with_role",
    "load_person_by_name",
    "find_person_by_claims",
    "record_backup",
    "record_restore",
    "set_password",
    "sign_out",
    "sign_out_everywhere",
    "sign_out_person",
    "token_sha256",
    "verify_audit",
]
