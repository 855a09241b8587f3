# SPDX-License-Identifier: Apache-2.0
"""What a program may report by name: the rules of `tessera_log`, also without the library."""

from __future__ import annotations

import re
from numbers import Real
from typing import Any

from tessera._library import TesseraError

MAX_NAMES = 16  # of a job
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{0,39}")


class Metrics:
    """Checks names and values, and counts the names."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def checked(self, values: dict[str, Any]) -> dict[str, float]:
        """The values as floats, which may be NaN or infinite.

        Raises TesseraError naming the first metric that cannot be reported; none counts then.
        """
        numbers = {name: _number(name, value) for name, value in values.items()}
        new = [name for name in numbers if name not in self._names]
        room = MAX_NAMES - len(self._names)
        if len(new) > room:
            raise TesseraError(f"metric '{new[room]}': a job has at most {MAX_NAMES} metrics")
        self._names.update(new)
        return numbers


def _number(name: str, value: Any) -> float:
    if not _NAME.fullmatch(name):
        raise TesseraError(
            f"'{name}' is no name of a metric: a letter or _, then letters, digits and _ . / -, at "
            "most 40 characters"
        )
    # A tensor of one element, of any library.
    if not isinstance(value, (Real, str)) and getattr(value, "shape", None) in ((), (1,)):
        value = value.item()
    if not isinstance(value, Real):
        raise TesseraError(f"metric '{name}': {value!r:.80} is no number")
    try:
        return float(value)
    except OverflowError:
        raise TesseraError(f"metric '{name}': the number is above those of a float") from None
