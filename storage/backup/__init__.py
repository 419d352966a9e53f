"""Backup of a whole workspace to one file during use, and its restoration; both are verified with hashes."""

from storage.backup.archive import BackupDamaged
from storage.backup.making import Made, make_backup
from storage.backup.manifest import Manifest
from storage.backup.restoring import Restored, check_backup, restore_backup

__all__ = [
    "BackupDamaged",
    "Made",
    "Manifest",
    "Restored",
    "check_backup",
    "make_backup",
    "restore_backup",
]
