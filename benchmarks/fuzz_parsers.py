"""Searches with atheris for bytes for which a parser neither returns a result nor refuses.

    pip install atheris          # not among the pinned tools: it has wheels for Linux and some Pythons only
    python -m benchmarks.fuzz_parsers image|questions [-max_total_time=60] …

Arguments after the first are passed to libFuzzer. libFuzzer ends at the first fault and writes the bytes to a
file.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from domain.errors import DomainError

# Imported only under atheris, because atheris does not instrument modules that were imported before.
_INSTRUMENTED = {
    "image": ("imaging", ("imaging.deidentify", "imaging.reader")),
    "questions": ("intake", ("intake.parsing", "intake.recognition")),
}


def main(arguments: list[str]) -> int:
    """Fuzz until stopped; return 2 if atheris is not installed."""
    if not arguments or arguments[0] not in _INSTRUMENTED:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import atheris  # noqa: PLC0415 - optional, and not available for every Python
    except ImportError:
        print("atheris is not installed: pip install atheris", file=sys.stderr)
        return 2
    package, modules = _INSTRUMENTED[arguments[0]]
    with atheris.instrument_imports(include=[package]):
        for module in modules:
            import_module(module)
    atheris.Setup([sys.argv[0], *arguments[1:]], _fuzz_image if arguments[0] == "image" else _fuzz_questions)
    atheris.Fuzz()
    return 0


def _fuzz_image(content: bytes) -> None:
    from imaging.deidentify import deidentify  # noqa: PLC0415 - after atheris instrumented it
    from imaging.pseudonyms import PseudonymKey  # noqa: PLC0415 - the same

    with suppress(DomainError):
        deidentify(content, name="f", key=PseudonymKey(secret=b"k" * 32))


def _fuzz_questions(content: bytes) -> None:
    from intake.parsing import parse_batches  # noqa: PLC0415 - after atheris instrumented it
    from intake.recognition import recognise_file  # noqa: PLC0415 - the same

    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(content)
        file.flush()
        path = Path(file.name)
        with suppress(DomainError):
            recognised = recognise_file(path, "auto")
            for _ in parse_batches(recognised, file_stem="f", minimum_explanation=20, with_images=True):
                pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
