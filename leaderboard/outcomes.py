"""Whether each private question was answered correctly, as text for the database.

Outcomes are results of single cases. They are stored for the ranking and never leave the server: no service
returns them, and no page, route, command or log contains them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def encode_outcomes(correct: NDArray[np.bool_]) -> str:
    """Return outcomes as hexadecimal text, eight questions in two digits.

    >>> encode_outcomes(np.array([True, False, True]))
    'a0'
    """
    return np.packbits(correct).tobytes().hex()


def decode_outcomes(text: str, *, n: int) -> NDArray[np.bool_]:
    """Restore the outcomes of ``n`` questions, the inverse of :func:`encode_outcomes`.

    >>> decode_outcomes("a0", n=3).tolist()
    [True, False, True]
    """
    packed = np.frombuffer(bytes.fromhex(text), dtype=np.uint8)
    return np.unpackbits(packed, count=n).astype(np.bool_)
