# SPDX-License-Identifier: BSD-3-Clause
"""Types of the options of benchmarks, for argparse: each reads a text, or says which texts are valid.

So options are checked before anything is built or started.
"""

import argparse
import math
import re
from collections.abc import Callable, Iterable

VECTOR_BYTES_MAX = 1 << 40  # of tributary-bench
WINDOW_MAX = 65536  # blocks in flight, of libtributary
_RATES = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}
_DURATIONS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
_CAPACITIES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"-?\d+", text) or not least <= int(text) <= (int(text) if most is None else most):
            raise _refusal(text, f"a whole number from {least} to {most}" if most is not None
                           else f"a whole number, {least} or more")
        return int(text)
    return read


def number(least: float, most: float = math.inf, *, above: bool = False) -> Callable[[str], float]:
    """A finite number; with `above` it is not `least` itself."""
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and least <= value <= most) or (above and value == least):
            low = f"above {least:g}" if above else f"{least:g} or more"
            raise _refusal(text, f"a number, {low}" + ("" if most == math.inf else f", up to {most:g}"))
        return value
    return read


window = whole(1, WINDOW_MAX)
tree_count = whole(1, 16)  # of a job of PANAMA
packet_memory = whole(2, 16384)  # of PANAMA in a switch
ecn_threshold = whole(0, 1 << 20)  # of a port


def share(text: str) -> float:
    return number(0, 1, above=True)(text)


def size(text: str) -> str:
    """Bytes of a vector, as tributary-bench takes them; K is 1024."""
    found = re.fullmatch(r"(\d+) *(?:([KMGT])i?)?B?", text, re.IGNORECASE)
    power = " KMGT".index((found[2] or " ").upper()) if found else 0
    if not found or not 1 <= int(found[1]) << 10 * power <= VECTOR_BYTES_MAX:
        raise _refusal(text, "a size from 1 byte to 1T, as 64K or 4M")
    return text


def rate(text: str) -> str:
    """Of a port, as its daemon takes it."""
    return _quantity(text, "a rate", _RATES, "10kbit", "1Tbit", "20Mbit")


def rate_or_none(text: str) -> str:
    """Likewise; the text `none` is a port that is not shaped."""
    return text if text == "none" else rate(text)


def capacity(text: str) -> str:
    """Of a port's queue."""
    return _quantity(text, "a size", _CAPACITIES, "2KiB", "1GiB", "72KiB")


def duration(least: str, most: str, *words: str) -> Callable[[str], str]:
    """One of the words, or what a daemon takes from `least` to `most`."""
    def read(text: str) -> str:
        more = "".join(f", or {word}" for word in words)
        return text if text in words else _quantity(text, "a duration", _DURATIONS, least, most, "20ms" + more)
    return read


def setting(text: str) -> str:
    if not re.fullmatch(r"[^=]+=.*", text, re.DOTALL):
        raise _refusal(text, "KEY=VALUE, as switch.port.rate=20Mbit")
    return text


def one_of(known: Iterable[str]) -> Callable[[str], str]:
    words = list(known)

    def read(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"there is no '{text}' (known: {' '.join(words)})")
        return text
    return read


def several(kind: Callable[[str], object]) -> Callable[[str], list]:
    """A list with commas between."""
    return lambda text: [kind(word) for word in text.split(",")]


def _quantity(text: str, what: str, units: dict[str, int], least: str, most: str, example: str) -> str:
    found = _times(text, units)
    if found is None or not _times(least, units) <= found <= _times(most, units):
        raise _refusal(text, f"{what} from {least} to {most}, as {example}")
    return text


def _times(text: str, units: dict[str, int]) -> float | None:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([A-Za-z]+)", text)
    return float(found[1]) * units[found[2]] if found and found[2] in units else None


def _refusal(text: str, valid: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{text!r} is not valid: give {valid}")
