"""The database tables. Rows never leave storage; its functions take and return domain objects.

``from __future__ import annotations`` is left out here, because pydantic would compile the text of each one.
"""

from sqlmodel import SQLModel

from storage.rows.adjudications import (
    AdjudicationRow,
    AdjudicationRulesRow,
    AdjudicatorRow,
    SecondOpinionsRow,
)
from storage.rows.applied_rules import AppliedQuestionRow, AppliedRuleRow, RuleReversalRow
from storage.rows.audit import AuditRow
from storage.rows.batches import AssignmentRow, BatchQuestionRow, BatchRow, DrawRow, StratumRow
from storage.rows.claims import ClaimRow, PoolMemberRow, SharedQueueRow
from storage.rows.datasets import (
    DatasetRow,
    ExamRow,
    ImageRow,
    ImportRow,
    ProblemRow,
    QuestionRow,
    RadiographRow,
)
from storage.rows.hidden import HiddenQuestionRow, HiddenSetRow
from storage.rows.jobs import JobRow
from storage.rows.patient_data import PatientDataRulesRow, PixelDecisionRow, PixelTextRow, TextHitRow
from storage.rows.people import PersonRoleRow, PersonRow, SignInRow
from storage.rows.releases import ReleaseItemRow, ReleaseRow
from storage.rows.second_factors import PendingSignInRow, RecoveryCodeRow, SecondFactorRow
from storage.rows.sign_in_security import FirstAdminCodeRow, WrongPasswordRow
from storage.rows.studies import (
    CaseKeyRow,
    CaseRow,
    ExclusionRow,
    ModelRow,
    PredictionRow,
    PredictionRunRow,
    ProtocolRow,
    ReaderStudyRow,
    ReadingDraftRow,
    ReadingRow,
    SlotRow,
    StudyReaderRow,
)
from storage.rows.verdicts import (
    DraftRow,
    OwnAnswerRow,
    ReportOpeningRow,
    SkipRow,
    VerdictRow,
    ViewingTimeRow,
)

#: All tables of the project; the migrations are compared with it.
metadata = SQLModel.metadata

__all__ = [
    "AdjudicationRow",
    "AdjudicationRulesRow",
    "AdjudicatorRow",
    "AppliedQuestionRow",
    "AppliedRuleRow",
    "AssignmentRow",
    "AuditRow",
    "BatchQuestionRow",
    "BatchRow",
    "CaseKeyRow",
    "CaseRow",
    "ClaimRow",
    "DatasetRow",
    "DraftRow",
    "DrawRow",
    "ExamRow",
    "ExclusionRow",
    "FirstAdminCodeRow",
    "HiddenQuestionRow",
    "HiddenSetRow",
    "ImageRow",
    "ImportRow",
    "JobRow",
    "ModelRow",
    "OwnAnswerRow",
    "PatientDataRulesRow",
    "PendingSignInRow",
    "PersonRoleRow",
    "PersonRow",
    "PixelDecisionRow",
    "PixelTextRow",
    "PoolMemberRow",
    "PredictionRow",
    "PredictionRunRow",
    "ProblemRow",
    "ProtocolRow",
    "QuestionRow",
    "RadiographRow",
    "ReaderStudyRow",
    "ReadingDraftRow",
    "ReadingRow",
    "RecoveryCodeRow",
    "ReleaseItemRow",
    "ReleaseRow",
    "ReportOpeningRow",
    "RuleReversalRow",
    "SecondFactorRow",
    "SecondOpinionsRow",
    "SharedQueueRow",
    "SignInRow",
    "SkipRow",
    "SlotRow",
    "StratumRow",
    "StudyReaderRow",
    "TextHitRow",
    "VerdictRow",
    "ViewingTimeRow",
    "WrongPasswordRow",
    "metadata",
]
