# SPDX-License-Identifier: BSD-3-Clause
"""Flare's packets: the dense and the sparse header, field by field."""

import dataclasses
import struct

import elements as element_types
import sealing

CONTRIBUTION, RESULT, INQUIRY = 1, 2, 3
SPARSE, RETRANSMISSION, ANSWER, VERSION = 0x80, 0x40, 0x20, 1
_VERSION_MASK = 0x1f
PAIRS, RUN = 0, 1
OFFSET_BYTES = 2
PORT = 17257

_FLAGS_AT = 16
_LAYOUT = struct.Struct(">IIQBBBBHHHHQI")  # all but the CRC over it
_SPARSE_LAYOUT = struct.Struct(">IIQBBBBHHHHQQHHHBBB3sI")
assert (_LAYOUT.size + 4, _SPARSE_LAYOUT.size + 4) == (44, 64)


@dataclasses.dataclass
class Packet:
    job: int
    run: int
    block: int
    flags: int
    kind: int
    element_type: int
    op: int
    elements: int
    contributions: int
    workers: int
    window: int
    fingerprint: int
    payload: bytes

    def encode(self) -> bytes:
        return sealing.seal(_LAYOUT, _fields_of(self), self.payload)


@dataclasses.dataclass
class SparsePacket:
    job: int
    run: int
    block: int
    flags: int
    kind: int
    element_type: int
    op: int
    elements: int
    contributions: int
    workers: int
    window: int
    fingerprint: int
    edition: int
    span: int
    first: int
    full: int
    shard: int
    shards: int
    form: int
    reserved: bytes
    payload: bytes

    def encode(self) -> bytes:
        return sealing.seal(_SPARSE_LAYOUT, _fields_of(self), self.payload)


def _fields_of(packet) -> list:
    return [getattr(packet, field.name) for field in dataclasses.fields(packet)][:-1]


def decode(datagram: bytes) -> Packet | SparsePacket | None:
    """None if it is no sound packet."""
    if len(datagram) <= _FLAGS_AT:
        return None
    is_sparse = datagram[_FLAGS_AT] & SPARSE
    opened = sealing.unseal(_SPARSE_LAYOUT if is_sparse else _LAYOUT, datagram)
    if opened is None:
        return None
    fields, payload = opened
    packet = (SparsePacket if is_sparse else Packet)(*fields, payload)
    if (packet.flags & _VERSION_MASK != VERSION or not CONTRIBUTION <= packet.kind <= INQUIRY
            or packet.element_type not in element_types.BYTES):
        return None
    each = element_types.BYTES[packet.element_type]
    if is_sparse and packet.form == PAIRS:
        each += OFFSET_BYTES
    return packet if len(payload) == packet.elements * each else None
