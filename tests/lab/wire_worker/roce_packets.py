# SPDX-License-Identifier: BSD-3-Clause
"""RoCEv2 over IPv4: what NetReduce needs of Reliable Connections (InfiniBand Architecture Specification,
chapter 9 and annex A17)."""

import dataclasses
import socket
import struct
import zlib

PORT = 4791
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMMEDIATE, WRITE_ONLY_IMMEDIATE = 0x06, 0x07, 0x09, 0x0b
ACKNOWLEDGE = 0x11
ACK, NAK_SEQUENCE = 0x1f, 0x60  # syndromes: without credits; out of sequence
PSNS = 1 << 24

_BTH = struct.Struct(">BBHII")  # opcode; SE, M, pad, version; key; queue pair; A, sequence number
_KEY = 0xffff
_ASKS = 1 << 31
_RETH = struct.Struct(">QII")  # address, rkey, length
_WORD = struct.Struct(">I")  # immediate; or syndrome and number of messages
_IP_DF, _TTL, _UDP_BYTES, _ICRC_BYTES = 0x4000, 0xff, 8, 4


@dataclasses.dataclass
class Packet:
    opcode: int
    queue_pair: int
    psn: int
    asks: bool = False  # for an acknowledgement
    reth: tuple[int, int, int] | None = None
    word: int | None = None
    payload: bytes = b""

    def encode(self) -> bytes:
        """But for the ICRC."""
        asks = _ASKS if self.asks else 0
        data = _BTH.pack(self.opcode, 0, _KEY, self.queue_pair, asks | self.psn % PSNS)
        data += _RETH.pack(*self.reth) if self.reth else b""
        data += _WORD.pack(self.word) if self.word is not None else b""
        return data + self.payload


_WITH_RETH = (WRITE_FIRST, WRITE_ONLY_IMMEDIATE)
_WITH_WORD = (WRITE_LAST_IMMEDIATE, WRITE_ONLY_IMMEDIATE, ACKNOWLEDGE)
_KNOWN = (WRITE_MIDDLE, *_WITH_RETH, *_WITH_WORD)


def decode(data: bytes) -> Packet | None:
    """None if it is nothing of what is used here."""
    if len(data) < _BTH.size or data[0] not in _KNOWN:
        return None
    opcode, _, _, queue_pair, last = _BTH.unpack_from(data)
    packet = Packet(opcode, queue_pair % PSNS, last % PSNS, bool(last & _ASKS))
    at = _BTH.size
    if opcode in _WITH_RETH:
        packet.reth = _RETH.unpack_from(data, at)
        at += _RETH.size
    if opcode in _WITH_WORD:
        (packet.word,) = _WORD.unpack_from(data, at)
        at += _WORD.size
    packet.payload = data[at:]
    return packet


def icrc(source: tuple[str, int], destination: tuple[str, int], data: bytes) -> bytes:
    """Of a packet whose identification is 0 and that must not be fragmented."""
    udp_bytes = _UDP_BYTES + len(data) + _ICRC_BYTES
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0xff, 20 + udp_bytes, 0, _IP_DF, _TTL, socket.IPPROTO_UDP,
                     0xffff, socket.inet_aton(source[0]), socket.inet_aton(destination[0]))
    udp = struct.pack(">HHHH", source[1], destination[1], udp_bytes, 0xffff)
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + data[:4] + b"\xff" + data[5:]))
