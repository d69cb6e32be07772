# SPDX-License-Identifier: BSD-3-Clause
"""Elements and operators. An i4 is a number whose two halves count, a pair is a tuple."""

import bisect
import math
import operator
import struct

F32, F64, F16, BF16, I8, I16, I32, I64, I4, F8E4M3, F8E5M2, F32_I32, F64_I32, I32_I32, I64_I32 = \
    range(15)
SUM, MIN, MAX, PROD, AND, OR, XOR, LAND, LOR, LXOR, MINLOC, MAXLOC = range(12)
TYPES = ("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "i4", "f8e4m3", "f8e5m2",
         "f32_i32", "f64_i32", "i32_i32", "i64_i32")
OPERATORS = ("sum", "min", "max", "prod", "and", "or", "xor", "land", "lor", "lxor", "minloc",
             "maxloc")
BYTES = dict(enumerate((4, 8, 2, 2, 1, 2, 4, 8, 1, 1, 1, 8, 16, 8, 16)))
_LETTERS = {F32: "f", F64: "d", F16: "e", I8: "b", I16: "h", I32: "i", I64: "q", I4: "b"}
_PAIRS = {F32_I32: "fi", F64_I32: "di4x", I32_I32: "ii", I64_I32: "qi4x"}
_FRACTION_BITS = {F8E4M3: 3, F8E5M2: 2}
_GREATEST = {F8E4M3: 0x7e, F8E5M2: 0x7b}  # of the finite ones


def is_integer(element_type: int) -> bool:
    return I8 <= element_type <= I4


def is_pair(element_type: int) -> bool:
    return element_type in _PAIRS


def is_float8(element_type: int) -> bool:
    return element_type in _FRACTION_BITS


def is_valid(element_type: int, op: int) -> bool:
    if is_pair(element_type) or op >= MINLOC:
        return is_pair(element_type) and op >= MINLOC
    return op <= PROD or is_integer(element_type)


def any_operator(element_type: int) -> int:
    """For calls that do not reduce."""
    return MINLOC if is_pair(element_type) else SUM


def load(element_type: int, payload: bytes) -> list:
    if is_pair(element_type):
        return list(struct.iter_unpack("<" + _PAIRS[element_type], payload))
    if is_float8(element_type):
        return [_FLOAT8[element_type][byte] for byte in payload]
    if element_type == BF16:  # the upper half of an f32
        payload = b"".join(b"\0\0" + payload[at:at + 2] for at in range(0, len(payload), 2))
        element_type = F32
    letter = _LETTERS[element_type]
    return list(struct.unpack(f"<{len(payload) // BYTES[element_type]}{letter}", payload))


def store(element_type: int, values: list) -> bytes:
    if is_pair(element_type):
        return b"".join(struct.pack("<" + _PAIRS[element_type], *pair) for pair in values)
    if is_float8(element_type):
        return bytes(_float8(element_type, value) for value in values)
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


def _float8_value(element_type: int, byte: int) -> float:
    """By its definition."""
    fraction_bits = _FRACTION_BITS[element_type]
    bias = (1 << 6 - fraction_bits) - 1
    magnitude = byte & 0x7f
    exponent, fraction = magnitude >> fraction_bits, magnitude % (1 << fraction_bits)
    if magnitude > _GREATEST[element_type]:
        value = math.inf if element_type == F8E5M2 and fraction == 0 else math.nan
    elif exponent == 0:
        value = math.ldexp(fraction, 1 - bias - fraction_bits)
    else:
        value = math.ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)
    return -value if byte & 0x80 else value


_FLOAT8 = {element_type: [_float8_value(element_type, byte) for byte in range(256)]
           for element_type in _FRACTION_BITS}


def _float8(element_type: int, value: float) -> int:
    """Rounded to nearest, ties to even; what is too great becomes the greatest number."""
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    greatest = _GREATEST[element_type]
    if value != value:
        return sign | 0x7f
    if element_type == F8E5M2 and math.isinf(value):
        return sign | greatest + 1
    numbers = _FLOAT8[element_type]
    above = bisect.bisect(numbers, abs(value), 0, greatest)  # they grow up to the greatest
    return sign | min((above - 1, above), key=lambda byte: (abs(abs(value) - numbers[byte]), byte & 1))


def _least(a, b):
    return a if a != a else b if b != b else min(a, b)


def _greatest(a, b):
    return a if a != a else b if b != b else max(a, b)


def _first(better):
    """Of two pairs that with a NaN, or the better value, or the lower index."""
    def choose(a: tuple, b: tuple) -> tuple:
        (a_value, a_index), (b_value, b_index) = a, b
        if a_value == b_value or a_value != a_value and b_value != b_value:
            return b if b_index < a_index else a
        if a_value != a_value or b_value != b_value:
            return a if a_value != a_value else b
        return b if better(b_value, a_value) else a
    return choose


_APPLY = {SUM: operator.add, MIN: _least, MAX: _greatest, PROD: operator.mul,
          AND: operator.and_, OR: operator.or_, XOR: operator.xor,
          LAND: lambda a, b: int(a != 0 and b != 0), LOR: lambda a, b: int(a != 0 or b != 0),
          LXOR: lambda a, b: int((a != 0) != (b != 0)),
          MINLOC: _first(operator.lt), MAXLOC: _first(operator.gt)}


def _wrapped(value: int, bits: int) -> int:
    half = 1 << bits - 1
    return (value + half) % (2 * half) - half


def _halves(op: int, a: int, b: int) -> int:
    """What an i4 becomes."""
    high = _APPLY[op](a >> 4, b >> 4)
    low = _APPLY[op](_wrapped(a, 4), _wrapped(b, 4))
    return _wrapped(high * 16 + low % 16, 8)


def combine(element_type: int, op: int, a: list, b: list) -> list:
    """Rounded to the type once, narrower floats to f32; integers wrap."""
    if element_type == I4:
        return [_halves(op, x, y) for x, y in zip(a, b, strict=True)]
    values = map(_APPLY[op], a, b)
    if is_integer(element_type):
        return [_wrapped(value, 8 * BYTES[element_type]) for value in values]
    if element_type == F64 or is_pair(element_type):
        return list(values)
    return load(F32, store(F32, list(values)))
