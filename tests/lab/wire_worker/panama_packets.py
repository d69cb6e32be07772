# SPDX-License-Identifier: BSD-3-Clause
"""PANAMA's packets: the header, field by field."""

import dataclasses
import struct

import elements as element_types
import sealing

AGGREGATION, RESULT, INQUIRY = 1, 2, 3
FIN, RETRANSMISSION, ANSWER, MASK, VERSION = 0x80, 0x40, 0x20, 0x10, 2
_VERSION_MASK = 0x0f
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
    payload: bytes  # elements
    present: int = 0  # the ranks in the sum, rank 0 the lowest bit; only with MASK

    def encode(self) -> bytes:
        fields = [getattr(self, field.name) for field in dataclasses.fields(self)][:-2]
        mask = self.present.to_bytes(self._mask_bytes(), "little")
        return sealing.seal(_LAYOUT, fields, self.payload + mask)

    def _mask_bytes(self) -> int:
        return mask_bytes(self.workers) if self.flags & MASK else 0

    def split(self) -> bool:
        """Takes the mask off the payload; returns whether both are sound."""
        elements_bytes = self.elements * element_types.BYTES[self.element_type]
        mask = self.payload[elements_bytes:]
        self.payload = self.payload[:elements_bytes]
        self.present = int.from_bytes(mask, "little")
        return (len(self.payload) == elements_bytes and len(mask) == self._mask_bytes()
                and (not mask or self.present.bit_count() == self.contributions)
                and self.present >> self.workers == 0)


def mask_bytes(workers: int) -> int:
    return -(-workers // 64) * 8


def decode(datagram: bytes) -> Packet | None:
    """None if it is no sound packet."""
    opened = sealing.unseal(_LAYOUT, datagram)
    if opened is None:
        return None
    fields, payload = opened
    packet = Packet(*fields, payload)
    sound = (packet.flags & _VERSION_MASK == VERSION and AGGREGATION <= packet.kind <= INQUIRY
             and packet.element_type in element_types.BYTES and packet.split())
    return packet if sound else None
