# SPDX-License-Identifier: BSD-3-Clause
"""Canary's packets: the header, field by field, and both CRCs."""

import dataclasses
import socket
import struct

import sealing

CONTRIBUTION, RESULT, RESTORATION, REQUEST, FAILURE, PENDING, RELEASE = range(1, 8)
BYPASS, MULTICAST, CONGESTED, VERSION = 0x80, 0x40, 0x20, 2
NO_RANK = 0xffff
SEQUENCES = 1 << 28
DIRECT = 15  # the attempt that no switch takes part in
PORTS = range(17000, 17256)

_LAYOUT = struct.Struct(">IIHHIHBBBBBBIHHQII6sHI")  # all but the CRC over it
assert _LAYOUT.size + 4 == 64


@dataclasses.dataclass
class Packet:
    destination: int = 0
    id: int = 0
    counter: int = 0
    hosts: int = 0
    children: int = 0
    switch_address: int = 0
    flags: int = VERSION
    kind: int = 0
    element_type: int = 0
    op: int = 0
    unused: int = 0
    shard: int = 0
    job: int = 0
    elements: int = 0
    child_port: int = 0
    fingerprint: int = 0
    child_address: int = 0
    switch_ipv4: int = 0
    child_mac: bytes = bytes(6)
    rank: int = 0
    payload: bytes = b""

    @property
    def sequence(self) -> int:
        return self.id % SEQUENCES

    @property
    def attempt(self) -> int:
        return self.id // SEQUENCES

    @property
    def collided(self) -> bool:
        """A switch had no room for it."""
        return bool(self.flags & BYPASS) and self.attempt != DIRECT

    @property
    def congested(self) -> bool:
        """A queue on the way of it, or of what is in it, was."""
        return bool(self.flags & CONGESTED)

    def encode(self) -> bytes:
        fields = [getattr(self, field.name) for field in dataclasses.fields(self)][:-1]
        return sealing.seal(_LAYOUT, fields, self.payload)


def decode(datagram: bytes, element_bytes) -> Packet | None:
    """None if it is no sound packet. `element_bytes`: of an element type, by number."""
    opened = sealing.unseal(_LAYOUT, datagram)
    if opened is None:
        return None
    fields, payload = opened
    packet = Packet(*fields, payload=payload)
    sound = (packet.flags & 0x1f == VERSION and CONTRIBUTION <= packet.kind <= RELEASE
             and packet.element_type in element_bytes
             and len(payload) == packet.elements * element_bytes[packet.element_type])
    return packet if sound else None


def number_of(address: str) -> int:
    return int.from_bytes(socket.inet_aton(address), "big")


def text_of(address: int) -> str:
    return socket.inet_ntoa(address.to_bytes(4, "big"))


def is_host(address: int) -> bool:
    """Neither unspecified nor multicast nor broadcast."""
    return address != 0 and address >> 28 != 0xe and address != 0xffffffff
