# SPDX-License-Identifier: BSD-3-Clause
"""How a call becomes NetReduce's messages, and what proves that everybody is in their sums."""

import dataclasses
import struct

import tags
from calls import BARRIER, Call, Job, as_allreduce

_HEADER = struct.Struct(">IIIIIHHHBBB3x")
assert _HEADER.size == 32
_MAGIC, _VERSION = 0x494e4154, 1
_WORD = struct.Struct("<Q")
_TAG, _RUN = 1, 2  # purposes of hashes
_EACH_PACKET = 0x9e3779b97f4a7c15


@dataclasses.dataclass(frozen=True)
class RingSettings:
    ring: int
    window: int = 2
    message_packets: int = 170
    mtu: int = 1024

    @property
    def piece_bytes(self) -> int:
        """Of a packet, but for its word."""
        return self.mtu - _WORD.size

    @property
    def element_bytes(self) -> int:
        """Of a full message."""
        return self.message_packets * self.piece_bytes - _HEADER.size

    @property
    def slot_bytes(self) -> int:
        return self.message_packets * self.mtu


def run_of(job_key: bytes) -> int:
    return tags.siphash(job_key, struct.pack(">III", _RUN, 0, 0)) % (1 << 32)


class Messages:
    """Of one call, whose first message has the number `first`."""

    def __init__(self, job: Job, settings: RingSettings, call: Call, number: int, first: int):
        self._job, self._settings, self._run = job, settings, run_of(job.key)
        self._key = tags.key_of_call(job.key, number)
        self._call = as_allreduce(call)
        self._first = first
        full = -(-len(self._call.vector) // settings.element_bytes)
        self.count = 1 if call.collective == BARRIER else full

    def place(self, number: int) -> slice:
        """In the vector."""
        at = number * self._settings.element_bytes
        return slice(at, min(at + self._settings.element_bytes, len(self._call.vector)))

    def _packets(self, element_bytes: int) -> int:
        return -(-(element_bytes + _HEADER.size) // self._settings.piece_bytes)

    def _elements(self, number: int) -> bytes:
        elements = self._call.vector[self.place(number)]
        return elements + bytes(-len(elements) % 8)

    def _header(self, number: int, rank: int, element_bytes: int) -> bytes:
        packets = self._packets(element_bytes)
        length = element_bytes + _HEADER.size + packets * _WORD.size
        return _HEADER.pack(_MAGIC, self._settings.ring, self._first + number, length, self._run,
                            packets, rank, self._job.hosts, self._call.element_type, self._call.op,
                            _VERSION)

    def _tag(self, number: int, rank: int) -> int:
        return tags.siphash(self._key, struct.pack(">III", _TAG, self._first + number, rank))

    def payloads(self, number: int) -> list[bytes]:
        """This rank's, packet by packet."""
        elements = self._elements(number)
        data = self._header(number, self._job.rank, len(elements)) + elements
        tag, piece = self._tag(number, self._job.rank), self._settings.piece_bytes
        return [data[packet * piece:(packet + 1) * piece]
                + _WORD.pack(tags.total([tag, packet * _EACH_PACKET]))
                for packet in range(self._packets(len(elements)))]

    def elements_of(self, number: int, slot: bytes) -> bytes:
        """Of the sum that came; ValueError if it is none."""
        size = len(self._elements(number))
        total = tags.total(self._tag(number, rank) for rank in range(self._job.hosts))
        data, at = b"", 0
        for packet in range(self._packets(size)):
            piece = min(self._settings.piece_bytes, size + _HEADER.size - len(data))
            (word,) = _WORD.unpack_from(slot, at + piece)
            if word != tags.total([total, packet * self._job.hosts * _EACH_PACKET]):
                raise ValueError(f"packet {packet} of message {self._first + number} is no sum")
            data += slot[at:at + piece]
            at += piece + _WORD.size
        before = (self._job.rank - 1) % self._job.hosts
        if data[:_HEADER.size] != self._header(number, before, size):
            raise ValueError(f"message {self._first + number} has another header")
        place = self.place(number)
        return data[_HEADER.size:_HEADER.size + place.stop - place.start]
