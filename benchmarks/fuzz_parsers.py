"""Let atheris look for bytes that a parser of ours answers with anything but a result or a refusal.

    pip install atheris          # not among the pinned tools: it has wheels for Linux and some Pythons only
    python -m benchmarks.fuzz_parsers image|questions [-max_total_time=60] …

What follows the first word goes to libFuzzer. It ends at the first fault, with the bytes in a file beside it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from domain.errors import DomainError
from intake.containers import QuestionFile
from intake.parsing import parsed_batches
from intake.recognition import recognised

_KEY = b"k" * 32


def main(arguments: list[str]) -> int:
    """Fuzz until told to stop; 2 where atheris is not installed."""
    targets: dict[str, Callable[[bytes], None]] = {"image": _image, "questions": _questions}
    if not arguments or arguments[0] not in targets:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import atheris  # noqa: PLC0415 - optional, and not there for every Python
    except ImportError:
        print("atheris is not installed: pip install atheris", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["imaging", "intake", "pydicom"]):
        import imaging.deidentify  # noqa: PLC0415 - imported here to be watched
        import imaging.reading  # noqa: F401, PLC0415 - the same
    atheris.Setup([sys.argv[0], *arguments[1:]], targets[arguments[0]])
    atheris.Fuzz()
    return 0


def _image(content: bytes) -> None:
    from imaging.deidentify import deidentify  # noqa: PLC0415 - after it is watched
    from imaging.pseudonyms import PseudonymKey  # noqa: PLC0415 - the same

    with suppress(DomainError):
        deidentify(content, name="f", key=PseudonymKey(secret=_KEY))


def _questions(content: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(content)
        file.flush()
        path = Path(file.name)
        with suppress(DomainError):
            container, found = recognised(QuestionFile(path), "auto")
            for batch in parsed_batches(
                path, container=container, file_format=found, file_stem="f", minimum_explanation=20,
                with_images=True,
            ):  # fmt: skip
                json.dumps(batch.refusals)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
