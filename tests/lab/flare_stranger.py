# SPDX-License-Identifier: BSD-3-Clause
"""A faulty program on a worker's host, which hears the worker's contributions and sends what no worker would, from
its address: flare_stranger.py GROUP PACKETS.

Nothing of it may be a contribution that the worker has yet to make: whoever can send in a worker's name can spoil
sums, which the ranks notice, and the switches cannot.
"""

import itertools
import socket
import struct
import sys
import zlib

PORT = 17257
ETHERNET, IPV4, UDP = 14, 20, 8
# docs/reference/wire/flare.md, without the last CRC
FIELDS = (("job", "I"), ("run", "I"), ("block", "Q"), ("flags", "B"), ("kind", "B"), ("element_type", "B"),
          ("op", "B"), ("elements", "H"), ("contributions", "H"), ("workers", "H"), ("window", "H"),
          ("fingerprint", "Q"), ("payload_crc", "I"))
LAYOUT = struct.Struct(">" + "".join(form for _, form in FIELDS))
CONTRIBUTION, RESULT, INQUIRY, REFUSAL = 1, 2, 3, 4
FAR = 1 << 62
SLOTS = 128
PATIENCE_S = 20  # with a worker that is silent
# Beyond the first blocks of a run, so that no other one can begin with them.
FIRST = 500


def packet(fields: dict, payload: bytes) -> bytes:
    header = LAYOUT.pack(*(fields[name] for name, _ in FIELDS))
    return header + struct.pack(">I", zlib.crc32(header)) + payload


def truncated(fields: dict, payload: bytes):
    whole = packet(fields, payload)
    yield from (whole[:length] for length in (0, 17, 43, 44, len(whole) - 1))
    yield whole + b"\0"


def lying(fields: dict, payload: bytes):
    """Every field at 0, 1 and its maximum, under a right CRC and under the old one."""
    right = packet(fields, payload)
    for name, form in FIELDS:
        for value in (0, 1, (1 << (8 * struct.calcsize(form))) - 1):
            wrong = packet(fields | {name: value}, payload)
            yield wrong
            yield wrong[:LAYOUT.size] + right[LAYOUT.size:]


def far(fields: dict, payload: bytes):
    """A block for each slot, which cannot be in flight."""
    for i in range(SLOTS):
        yield packet(fields | {"block": FAR + i}, payload)


def forged(fields: dict, payload: bytes):
    """Results, and what only comes down."""
    spoilt = bytes(len(payload))
    sealed = fields | {"payload_crc": zlib.crc32(spoilt)}
    yield packet(sealed | {"kind": RESULT, "contributions": fields["workers"]}, spoilt)
    empty = fields | {"elements": 0, "payload_crc": 0}
    yield packet(empty | {"kind": REFUSAL, "element_type": 3}, b"")
    yield packet(empty | {"kind": INQUIRY, "contributions": 1, "fingerprint": 0}, b"")


def heard(interface: str):
    """The worker's own contributions, as they leave."""
    ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    ear.bind((interface, 0))
    ear.settimeout(PATIENCE_S)
    while True:
        frame, place = ear.recvfrom(65536)
        start = ETHERNET + IPV4 + UDP
        if place[2] != socket.PACKET_OUTGOING or frame[36:38] != struct.pack(">H", PORT) \
                or len(frame) < start + LAYOUT.size + 4:
            continue
        fields = dict(zip((name for name, _ in FIELDS), LAYOUT.unpack_from(frame, start), strict=True))
        if fields["kind"] == CONTRIBUTION and FIRST <= fields["block"] < FAR:
            yield fields, frame[start + LAYOUT.size + 4:]


def attacks(interface: str):
    """One kind after the other, each about the contribution that was heard last; results about each."""
    kinds = itertools.cycle((truncated, lying, far))
    for count, (fields, payload) in enumerate(heard(interface)):
        yield from forged(fields, payload)
        if count % 50 == 0:
            yield from next(kinds)(fields, payload)


def main() -> None:
    group, packets = sys.argv[1], int(sys.argv[2])
    interface = next(name for _, name in socket.if_nameindex() if name != "lo")
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 64)
    out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                   struct.pack("=8xi", socket.if_nametoindex(interface)))
    out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)  # or the worker itself would hear it
    for data in itertools.islice(attacks(interface), packets):
        out.sendto(data, (group, PORT))


if __name__ == "__main__":
    main()
