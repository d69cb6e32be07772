# SPDX-License-Identifier: BSD-3-Clause
"""Fingerprints: SipHash-2-4, and what it is made of."""

import functools
import struct

_MASK = (1 << 64) - 1
_PURPOSE_OF_RUNS = 2


def _rounds(v: list[int], count: int) -> None:
    a, b, c, d = v
    for _ in range(count):
        a, c = (a + b) & _MASK, (c + d) & _MASK
        b = (b << 13 & _MASK | b >> 51) ^ a
        d = (d << 16 & _MASK | d >> 48) ^ c
        a = a << 32 & _MASK | a >> 32
        c, a = (c + b) & _MASK, (a + d) & _MASK
        b = (b << 17 & _MASK | b >> 47) ^ c
        d = (d << 21 & _MASK | d >> 43) ^ a
        c = c << 32 & _MASK | c >> 32
    v[:] = a, b, c, d


def siphash(key: bytes, message: bytes) -> int:
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]
    padding = bytes(7 - len(message) % 8) + bytes([len(message) & 0xff])
    for (word,) in struct.iter_unpack("<Q", message + padding):
        v[3] ^= word
        _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xff
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def key_of_call(job_key: bytes, call: int) -> bytes:
    (first,) = struct.unpack_from("<Q", job_key)
    return struct.pack("<Q", first ^ call) + job_key[8:]


@functools.lru_cache(maxsize=1 << 16)
def of_first(key: bytes, packet: int, ranks: int) -> int:
    """The tags of so many ranks, from rank 0 on, added up."""
    return siphash(key, struct.pack(">QI", packet, ranks)) if ranks else 0


def of(key: bytes, packet: int, rank: int) -> int:
    return of_first(key, packet, rank + 1) - of_first(key, packet, rank) & _MASK


def of_sender(key: bytes, id: int, rank: int, kind: int) -> int:
    """Of a packet of Canary's that nobody adds to."""
    return siphash(key, struct.pack(">IIB", id, rank, kind))


def run_of(job_key: bytes) -> int:
    """Of NetReduce and Flare."""
    return siphash(job_key, struct.pack(">III", _PURPOSE_OF_RUNS, 0, 0)) % (1 << 32)


def first_sequence(job_key: bytes) -> int:
    return of_sender(job_key, 0, 0xffffffff, 1) % (1 << 28)


def total(tags) -> int:
    return sum(tags) & _MASK
