"""Backup of a whole workspace in use to one file, and restoration of that file. Hashes verify both."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from storage.backup.archive import BackupDamaged
    from storage.backup.backup_writer import BackupResult, make_backup
    from storage.backup.manifest import Manifest
    from storage.backup.migration_backup import back_up_before_migration
    from storage.backup.restoration import RestoreResult, check_backup, restore_backup
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "BackupDamaged",
    "BackupResult",
    "Manifest",
    "RestoreResult",
    "back_up_before_migration",
    "check_backup",
    "make_backup",
    "restore_backup",
]
