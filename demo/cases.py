"""The exams of the demo: patient, indication, findings, and deliberate differences between report and image.

All patients are fictitious. The indications are worded as on request forms, and none of them reveals the
finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from demo.phantom import FindingKind, FindingSpec, Side, Zone


class Projections(StrEnum):
    """The projections of an exam."""

    PA_AND_LATERAL = "PA and lateral"
    PA = "PA"
    AP = "AP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One exam of the demo.

    Attributes:
        number: a positive integer, from which the exam id is derived.
        seed: the seed of the phantom; exams with the same seed belong to the same patient.
        unreported: the kinds of findings that are visible but missing from the report.
        only_reported: a finding that the report mentions and the image does not show.
        comparison: the sentence in which the report compares with an earlier examination.
        report_from_exam: the number of the exam whose report this exam has instead of its own.
    """

    number: int
    seed: int
    sex: str
    age: int
    indication: str
    findings: tuple[FindingSpec, ...] = ()
    projections: Projections = Projections.PA_AND_LATERAL
    unreported: frozenset[FindingKind] = frozenset()
    only_reported: str = ""
    comparison: str = ""
    report_from_exam: int | None = None

    @property
    def exam_id(self) -> str:
        """The exam id in the question file."""
        return f"demo-{self.number:03d}"

    @property
    def patient(self) -> str:
        """The patient's pseudonym, the same as in the DICOM files."""
        return f"PHANTOM-{self.seed:04d}"


def _nodule(side: Side, zone: Zone, conspicuity: float, size: float) -> FindingSpec:
    return FindingSpec(kind=FindingKind.NODULE, side=side, zone=zone, size_mm=size, conspicuity=conspicuity)


def _effusion(side: Side, conspicuity: float) -> FindingSpec:
    return FindingSpec(kind=FindingKind.EFFUSION, side=side, conspicuity=conspicuity)


def _pneumothorax(side: Side, conspicuity: float) -> FindingSpec:
    return FindingSpec(kind=FindingKind.PNEUMOTHORAX, side=side, conspicuity=conspicuity)


def _consolidation(side: Side, zone: Zone, conspicuity: float) -> FindingSpec:
    return FindingSpec(kind=FindingKind.CONSOLIDATION, side=side, zone=zone, conspicuity=conspicuity)


_R, _L = Side.RIGHT, Side.LEFT
_UP, _MID, _LOW = Zone.UPPER, Zone.MID, Zone.LOWER
_BIG_HEART = FindingSpec(kind=FindingKind.CARDIOMEGALY)
_TUBE = FindingSpec(kind=FindingKind.ENDOTRACHEAL_TUBE, conspicuity=0.8)
_CATHETER = FindingSpec(kind=FindingKind.CENTRAL_VENOUS_CATHETER, conspicuity=0.8)
_FEEDING = FindingSpec(kind=FindingKind.NASOGASTRIC_TUBE, conspicuity=0.8)
_PACEMAKER = FindingSpec(kind=FindingKind.PACEMAKER, conspicuity=0.9)
_PA, _AP = Projections.PA, Projections.AP

CASES: tuple[Case, ...] = (
    Case(number=1, seed=1, sex="F", age=34, indication="Medical examination before employment."),
    Case(number=2, seed=2, sex="M", age=52, indication="Cough for three weeks, no fever."),
    Case(number=3, seed=3, sex="F", age=67, indication="Weight loss; smoker.",
         findings=(_nodule(_L, _UP, 0.85, 24),)),
    Case(number=4, seed=4, sex="M", age=71, indication="Shortness of breath on exertion, swollen ankles.",
         findings=(_BIG_HEART, _effusion(_R, 0.8))),
    Case(number=5, seed=8, sex="M", age=24, indication="Sudden pain on one side of the chest.",
         findings=(_pneumothorax(_L, 0.85),)),
    Case(number=6, seed=6, sex="F", age=45, indication="Fever and cough for four days.",
         findings=(_consolidation(_R, _LOW, 0.85),)),
    Case(number=7, seed=9, sex="M", age=63, indication="Intensive care, second day after surgery.",
         findings=(_TUBE, _CATHETER, _FEEDING), projections=_AP),
    Case(number=8, seed=10, sex="M", age=79, indication="Dizziness; cardiology follow-up.",
         findings=(_PACEMAKER,)),
    Case(number=9, seed=11, sex="F", age=29, indication="Positive tuberculin skin test."),
    Case(number=10, seed=12, sex="F", age=83, indication="Fall at home, tenderness of the chest wall.",
         findings=(_BIG_HEART,), only_reported="an old healed fracture of the left seventh rib"),
    Case(number=11, seed=13, sex="M", age=58, indication="Before hip replacement.",
         findings=(_nodule(_R, _MID, 0.6, 17),)),
    Case(number=12, seed=14, sex="F", age=38, indication="Fever, pain on breathing in.",
         findings=(_consolidation(_L, _LOW, 0.7), _effusion(_R, 0.55))),
    Case(number=13, seed=15, sex="M", age=47, indication="Night sweats.", projections=_PA),
    Case(number=14, seed=16, sex="F", age=55, indication="Fever and productive cough.",
         findings=(_consolidation(_R, _UP, 0.8),)),
    Case(number=15, seed=17, sex="M", age=69, indication="Intensive care, sepsis.", projections=_AP,
         findings=(_TUBE, _CATHETER, _consolidation(_R, _LOW, 0.75))),
    Case(number=16, seed=18, sex="F", age=61, indication="Abdominal pain, some shortness of breath.",
         findings=(_effusion(_L, 0.9),)),
    Case(number=17, seed=19, sex="M", age=33, indication="Chest pain after a football match."),
    Case(number=18, seed=20, sex="M", age=76, indication="Known heart disease, tired for weeks.",
         findings=(_BIG_HEART, _PACEMAKER),
         comparison="Compared with the previous examination the heart has not changed in size."),
    Case(number=19, seed=21, sex="F", age=72, indication="Hoarseness for two months; smoker.",
         findings=(_nodule(_R, _UP, 0.75, 22), _effusion(_L, 0.5))),
    Case(number=20, seed=22, sex="F", age=19, indication="Sudden breathlessness while at rest.",
         findings=(_pneumothorax(_R, 0.7),), projections=_PA),
    Case(number=21, seed=23, sex="M", age=41, indication="Cough for ten days, raised inflammatory markers.",
         findings=(_consolidation(_L, _MID, 0.75),)),
    Case(number=22, seed=24, sex="F", age=50, indication="Before breast surgery."),
    Case(number=23, seed=25, sex="M", age=66, indication="Breathless on the ward; emergency call.",
         findings=(_CATHETER, _pneumothorax(_R, 0.8)), projections=_AP),
    Case(number=24, seed=26, sex="F", age=88, indication="Reduced general condition; reduced food intake.",
         findings=(_FEEDING, _effusion(_R, 0.75)), unreported=frozenset({FindingKind.NASOGASTRIC_TUBE})),
    Case(number=25, seed=3, sex="F", age=68, indication="Follow-up after one year; smoker.",
         findings=(_nodule(_L, _UP, 0.9, 29),),
         comparison="Compared with the previous examination the nodule has grown."),
    Case(number=26, seed=28, sex="M", age=57, indication="Cough that does not settle; smoker.",
         findings=(_nodule(_L, _LOW, 0.65, 19), _nodule(_R, _UP, 0.7, 16))),
    Case(number=27, seed=29, sex="F", age=44, indication="Dry cough.", projections=_PA,
         only_reported="a calcified granuloma in the right upper lung zone"),
    Case(number=28, seed=30, sex="M", age=74, indication="Breathless when lying flat.",
         findings=(_BIG_HEART, _effusion(_L, 0.65), _PACEMAKER)),
    Case(number=29, seed=31, sex="F", age=36, indication="Fever after travel.",
         findings=(_consolidation(_R, _MID, 0.6),), projections=_PA),
    Case(number=30, seed=8, sex="M", age=25, indication="Follow-up; no symptoms now.",
         comparison="Compared with the previous examination the pneumothorax has resolved."),
    Case(number=31, seed=33, sex="M", age=64, indication="Trauma team; fall from a ladder.",
         findings=(_effusion(_L, 0.7), _pneumothorax(_R, 0.55)), projections=_AP),
    Case(number=32, seed=34, sex="F", age=59, indication="Known to an outside hospital; please report.",
         findings=(_nodule(_R, _LOW, 0.5, 15), _BIG_HEART), unreported=frozenset({FindingKind.NODULE})),
    Case(number=33, seed=35, sex="M", age=48, indication="Insurance examination.", projections=_PA),
    Case(number=34, seed=36, sex="F", age=70, indication="Palpitations; before cardioversion.",
         findings=(_BIG_HEART,), projections=_PA, only_reported="a small hiatal hernia"),
    Case(number=35, seed=14, sex="F", age=39, indication="Follow-up three months after treatment.",
         findings=(_effusion(_R, 0.45),),
         comparison="Compared with the previous examination the opacity in the left lung has cleared."),
    Case(number=36, seed=38, sex="M", age=62, indication="Cough and malaise.", report_from_exam=15),
)  # fmt: skip
