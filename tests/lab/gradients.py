# SPDX-License-Identifier: BSD-3-Clause
"""Gradient packets as they are on the line, out of tcpdump's files."""

import dataclasses
import struct
import zlib

_ETHERNET, _IP, _UDP, _BTH, _RETH, _IMMEDIATE = 14, 20, 8, 12, 16, 4
_BTH_AT = _ETHERNET + _IP + _UDP
# RDMA WRITE: what stands between the BTH and the payload.
_EXTRA = {0x06: _RETH, 0x07: 0, 0x08: 0, 0x09: _IMMEDIATE, 0x0A: _RETH, 0x0B: _RETH + _IMMEDIATE}
_WITH_RETH = (0x06, 0x0A, 0x0B)
INA_HEADER = 32
FINGERPRINT = 8


@dataclasses.dataclass(frozen=True)
class Gradient:
    """One packet of RDMA WRITE."""

    frame: bytes

    @property
    def source(self) -> bytes:
        return self.frame[_ETHERNET + 12:_ETHERNET + 16]

    @property
    def psn(self) -> int:
        return int.from_bytes(self.frame[_BTH_AT + 9:_BTH_AT + 12], "big")

    @property
    def begins_message(self) -> bool:
        return self.frame[_BTH_AT] in _WITH_RETH

    @property
    def headers(self) -> bytes:
        return self.frame[:_BTH_AT + _BTH + _EXTRA[self.frame[_BTH_AT]]]

    @property
    def payload(self) -> bytes:
        return self.frame[len(self.headers):-4]

    @property
    def elements(self) -> bytes:
        return self.payload[INA_HEADER if self.begins_message else 0:-FINGERPRINT]

    @property
    def fingerprint(self) -> int:
        return int.from_bytes(self.payload[-FINGERPRINT:], "little")

    @property
    def icrc_is_right(self) -> bool:
        masked = bytearray(self.frame[_ETHERNET:-4])
        for at in (1, 8, 10, 11, _IP + 6, _IP + 7, _IP + _UDP + 4):  # TOS, TTL, sums, congestion
            masked[at] = 0xFF
        return zlib.crc32(b"\xff" * 8 + masked) == int.from_bytes(self.frame[-4:], "little")


def gradients(capture: bytes) -> list[Gradient]:
    """Of a file of tcpdump's, in order."""
    return [Gradient(frame) for frame in _frames(capture) if frame[_BTH_AT] in _EXTRA]


def _frames(capture: bytes) -> list[bytes]:
    frames, at = [], 24
    while at + 16 <= len(capture):
        captured, full = struct.unpack_from("<II", capture, at + 8)
        if captured != full:
            raise AssertionError("tcpdump cut a frame short")
        frames.append(capture[at + 16:at + 16 + captured])
        at += 16 + captured
    return frames


def sum_f32(parts: list[bytes]) -> bytes:
    """Of two summands; more would have to be rounded in between."""
    assert len(parts) == 2
    count = len(parts[0]) // 4
    vectors = [struct.unpack(f"<{count}f", part) for part in parts]
    return struct.pack(f"<{count}f", *map(sum, zip(*vectors)))
