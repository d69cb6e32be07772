# SPDX-License-Identifier: BSD-3-Clause
"""Elements and operators."""

import math
import operator
import struct

F32, F64, F16, BF16, I8, I16, I32, I64 = range(8)
SUM, MIN, MAX, PROD, AND, OR, XOR = range(7)
TYPES = ("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64")
OPERATORS = ("sum", "min", "max", "prod", "and", "or", "xor")
BYTES = dict(enumerate((4, 8, 2, 2, 1, 2, 4, 8)))
_LETTERS = {F32: "f", F64: "d", F16: "e", I8: "b", I16: "h", I32: "i", I64: "q"}


def is_integer(element_type: int) -> bool:
    return element_type >= I8


def is_valid(element_type: int, op: int) -> bool:
    return op <= PROD or is_integer(element_type)


def load(element_type: int, payload: bytes) -> list:
    if element_type == BF16:  # the upper half of an f32
        payload = b"".join(b"\0\0" + payload[at:at + 2] for at in range(0, len(payload), 2))
        element_type = F32
    letter = _LETTERS[element_type]
    return list(struct.unpack(f"<{len(payload) // BYTES[element_type]}{letter}", payload))


def store(element_type: int, values: list) -> bytes:
    if element_type == BF16:
        return b"".join(_bfloat16(value) for value in values)
    try:
        return struct.pack(f"<{len(values)}{_LETTERS[element_type]}", *values)
    except OverflowError:  # struct does not round to infinity
        return b"".join(_overflowing(element_type, value) for value in values)


def _overflowing(element_type: int, value: float) -> bytes:
    try:
        return struct.pack("<" + _LETTERS[element_type], value)
    except OverflowError:
        return struct.pack("<" + _LETTERS[element_type], math.copysign(math.inf, value))


def _bfloat16(value: float) -> bytes:
    """Rounded to nearest, ties to even."""
    (bits,) = struct.unpack("<I", store(F32, [value]))
    if value != value:
        return struct.pack("<H", bits >> 16 | 0x40)
    return struct.pack("<H", bits + 0x7fff + (bits >> 16 & 1) >> 16)


def _least(a, b):
    return a if a != a else b if b != b else min(a, b)


def _greatest(a, b):
    return a if a != a else b if b != b else max(a, b)


_APPLY = {SUM: operator.add, MIN: _least, MAX: _greatest, PROD: operator.mul,
          AND: operator.and_, OR: operator.or_, XOR: operator.xor}


def combine(element_type: int, op: int, a: list, b: list) -> list:
    """Rounded to the type once, 16-bit floats to f32; integers wrap."""
    values = map(_APPLY[op], a, b)
    if is_integer(element_type):
        half = 1 << 8 * BYTES[element_type] - 1
        return [(value + half) % (2 * half) - half for value in values]
    if element_type == F64:
        return list(values)
    return load(F32, store(F32, list(values)))
