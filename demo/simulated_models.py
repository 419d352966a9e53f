"""The demo's eight simulated models, with the accuracies of the models in ReXVQA.

The accuracies are the column "Overall" of ReXVQA's Table 2, which is the plain mean of five tasks for seven
models and the question-weighted mean for MedGemma. Only these accuracies are taken from ReXVQA; the replies
are generated here. The models are marked as simulated.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

from sqlmodel import Session

from demo.simulated_studies import right_case_numbers, simulate_answer
from domain.people import Person
from domain.studies import Case
from reader_study import service as studies


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedModel:
    """A simulated model: its accuracy, and the share of its replies without a parsable answer.

    ``states_probability``: the model states how probable it is that its answer is correct, somewhat too
    confidently.
    """

    name: str
    accuracy: float
    unparsable_share: float = 0.0
    states_probability: bool = False


MODELS = (
    SimulatedModel(name="LLaVA (simulated)", accuracy=0.2661, unparsable_share=0.0237),
    SimulatedModel(name="Phi35 (simulated)", accuracy=0.4749),
    SimulatedModel(name="Qwen2VL (simulated)", accuracy=0.5470),
    SimulatedModel(name="Gemini (simulated)", accuracy=0.6331),
    SimulatedModel(name="Eagle2 (simulated)", accuracy=0.6443),
    SimulatedModel(name="Qwen25VL (simulated)", accuracy=0.6555),
    SimulatedModel(name="Janus-Pro-7B (simulated)", accuracy=0.6656),
    SimulatedModel(name="MedGemma (simulated)", accuracy=0.8324, states_probability=True),
)
_NO_ANSWER = "The image alone does not let me decide between these."


def import_simulated_models(db: Session, *, by: Person, study: str, cases: list[Case], now: datetime) -> None:
    """Import the predictions of all eight models on the study's cases, from files, as for real models."""
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            path = Path(folder) / "predictions.jsonl"
            path.write_text(render_predictions(cases, model), encoding="utf-8")
            outcome = studies.import_predictions(
                db, by=by, path=path, model=model.name, study=study, simulated=True, now=now
            )
            if outcome.refusals:
                raise ValueError(f"the predictions of the demo were refused: {outcome.refusals[0]}")


def render_predictions(cases: list[Case], model: SimulatedModel) -> str:
    """Return a model's predictions as overread.prediction/1.

    Wrong replies without an answer make up ``unparsable_share`` of all cases.
    """
    right_numbers = right_case_numbers(model.name, cases, accuracy=model.accuracy)
    remaining_unparsable = round(model.unparsable_share * len(cases))
    lines = []
    for case in cases:
        line: dict[str, object] = {"question_id": case.blind_case.question_id}
        is_right = case.blind_case.number in right_numbers
        if not is_right and remaining_unparsable:
            remaining_unparsable -= 1
            line["raw"] = _NO_ANSWER
        else:
            if model.states_probability:
                random = Random(f"{model.name} {case.blind_case.number}")
                line["probability"] = round(random.betavariate(12 if is_right else 6, 1.5), 2)
            line["raw"] = f"<answer>{simulate_answer(case, right=is_right, name=model.name)}</answer>"
        lines.append(json.dumps(line, ensure_ascii=False))
    return "\n".join(lines) + "\n"
