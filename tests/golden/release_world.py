"""The small judged world whose release is kept in tests/golden/release/, and the code that writes it.

After an intended change of the files run ``python -m tests.golden.release_world``, then review the
difference.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from accounts.service import command_line_person
from domain.boxes import Box, LabelledBox
from domain.corrections import Correction
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty, Task
from release.service import ReviewerNaming, WrittenRelease, write_release
from storage.engine import make_engine
from storage.schema import upgrade
from storage.unit_of_work import read_only_session
from storage.workspace import Workspace
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import World, make_world

GOLDEN = Path(__file__).parent / "release"

BOX = LabelledBox(
    radiograph="pa", label="Nodule, left", box=Box(x_min=1500, y_min=886, x_max=2278.5, y_max=1214)
)


def make_judged_world(engine: Engine) -> World:
    """Twelve questions: 1 accepted, 2 and 3 corrected, 4 rejected, 5 disputed, 6 corrected in two ways,
    7 corrected alike by two, 8 first rejected, then corrected; 9 to 12 are not judged.
    """
    world = make_world(engine, assigned_to=("ruth", "remo"))
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(
        world,
        make_acceptance(
            world,
            question=2,
            decision=Decision.REVISE,
            errors=frozenset({ErrorKind.WRONG_KEY, ErrorKind.WORDING}),
            comment="The nodule is plain to see.",
            correction=Correction(
                stem='=Which finding is "on" this radiograph, größer als 1 cm?',
                options=("Nodule", "Effusion", "None of these"),
                answer=(0,),
            ),
        ),
    )
    save_verdict(
        world,
        make_acceptance(
            world,
            question=3,
            decision=Decision.REVISE,
            errors=frozenset({ErrorKind.BOX_WRONG}),
            correction=Correction(
                explanation="", task=Task.LOCATION, category="Lung", difficulty=Difficulty.EASY, boxes=(BOX,)
            ),
        ),
    )
    save_verdict(world, make_rejection(world, question=4, comment="Two answers hold."))
    save_verdict(world, make_acceptance(world, question=5))
    save_verdict(world, make_rejection(world, question=5, person="remo", kind=ErrorKind.NOT_IN_IMAGE), "remo")
    for person, stem in (("ruth", "Which finding is shown?"), ("remo", "What is shown?")):
        correction = Correction(stem=stem)
        save_verdict(
            world,
            make_acceptance(
                world, question=6, person=person, decision=Decision.REVISE, correction=correction
            ),
            person,
        )
    for person in ("ruth", "remo"):
        correction = Correction(boxes=())
        save_verdict(
            world,
            make_acceptance(
                world, question=7, person=person, decision=Decision.REVISE, correction=correction
            ),
            person,
        )
    save_verdict(world, make_rejection(world, question=8))
    save_verdict(
        world,
        make_acceptance(
            world,
            question=8,
            revision=2,
            decision=Decision.REVISE,
            correction=Correction(answer=(2,)),
            why="It can be mended.",
        ),
    )
    return world


def write_test_release(world: World, out: Path, **options: Any) -> WrittenRelease:
    """Write release v1 of the world to that folder."""
    workspace = Workspace(home=out.parent, database_url="")
    with read_only_session(world.engine) as db:
        return write_release(
            db,
            by=command_line_person(),
            dataset="demo",
            name=str(options.pop("name", "v1")),
            out=out,
            workspace=workspace,
            **{"reviewer_naming": ReviewerNaming.ACCOUNT, **options},
        )


def main() -> None:
    """Write the golden files again."""
    with tempfile.TemporaryDirectory() as folder:
        engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
        upgrade(engine)
        write_test_release(make_judged_world(engine), Path(folder) / "release")
        shutil.rmtree(GOLDEN, ignore_errors=True)
        shutil.copytree(Path(folder) / "release", GOLDEN)
        engine.dispose()


if __name__ == "__main__":
    main()
