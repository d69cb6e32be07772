# SPDX-License-Identifier: BSD-3-Clause
"""PANAMA's packets: the header, field by field."""

import dataclasses
import struct

import elements as element_types
import sealing

AGGREGATION, RESULT, INQUIRY = 1, 2, 3
FIN, RETRANSMISSION, ANSWER, VERSION = 0x80, 0x40, 0x20, 2
_VERSION_MASK = 0x1f
NO_CAP = 0xffff
PORT = 17256

_LAYOUT = struct.Struct(">IHHIBBBBIIHHHHQI")  # all but the CRC over it
assert _LAYOUT.size + 4 == 48


@dataclasses.dataclass
class Packet:
    job: int
    tree: int
    wnd_cap: int
    vid: int
    flags: int
    kind: int
    element_type: int
    op: int
    run: int
    epoch: int
    elements: int
    contributions: int
    workers: int
    rank: int
    fingerprint: int
    payload: bytes

    def encode(self) -> bytes:
        fields = [getattr(self, field.name) for field in dataclasses.fields(self)][:-1]
        return sealing.seal(_LAYOUT, fields, self.payload)


def decode(datagram: bytes) -> Packet | None:
    """None if it is no sound packet."""
    opened = sealing.unseal(_LAYOUT, datagram)
    if opened is None:
        return None
    fields, payload = opened
    packet = Packet(*fields, payload)
    sound = (packet.flags & _VERSION_MASK == VERSION and AGGREGATION <= packet.kind <= INQUIRY
             and packet.element_type in element_types.BYTES
             and len(payload) == packet.elements * element_types.BYTES[packet.element_type])
    return packet if sound else None
