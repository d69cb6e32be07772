# SPDX-License-Identifier: BSD-3-Clause
"""How a call becomes NetReduce's messages, and what proves that everybody is in their sums."""

import dataclasses
import itertools
import struct
from collections.abc import Callable, Iterator

import elements
import tags
from calls import BARRIER, Call, Job, as_allreduce

_HEADER = struct.Struct(">IIIIIHHHBBB3x")
assert _HEADER.size == 32
_MAGIC, _VERSION = 0x494e4154, 1
_WORD = struct.Struct("<Q")
_FIRST, _STEP = 1 << 32, 4 << 32  # of a message: above its number in those of its two tags


@dataclasses.dataclass(frozen=True)
class RingSettings:
    ring: int
    window: int = 2
    message_packets: int = 170
    mtu: int = 1024

    def room(self, packet: int) -> int:
        """Of a packet, but for its word and header."""
        return self.mtu - _WORD.size - (_HEADER.size if packet == 0 else 0)

    def whole(self, packet: int, size: int) -> int:
        """What elements of `size` bytes fill of that."""
        return self.room(packet) // size * size

    def element_bytes(self, size: int) -> int:
        """Of a full message."""
        return self.whole(0, size) + (self.message_packets - 1) * self.whole(1, size)

    @property
    def slot_bytes(self) -> int:
        return self.message_packets * self.mtu


class Messages:
    """Of one call, whose first message has the number `first`."""

    def __init__(self, job: Job, settings: RingSettings, call: Call, number: int, first: int):
        self._job, self._settings, self._run = job, settings, tags.run_of(job.key)
        self._key = tags.key_of_call(job.key, number)
        self._call = as_allreduce(call)
        self._first = first
        self._size = elements.BYTES[self._call.element_type]
        self._full = settings.element_bytes(self._size)
        full = -(-len(self._call.vector) // self._full)
        self.count = 1 if call.collective == BARRIER else full

    def place(self, number: int) -> slice:
        """In the vector."""
        at = number * self._full
        return slice(at, min(at + self._full, len(self._call.vector)))

    def _pieces(self, number: int) -> list[bytes]:
        """The elements of each packet, and all but the last filled up."""
        data = self._call.vector[self.place(number)]
        data += bytes(-len(data) % 8)
        pieces = []
        while data or not pieces:
            whole = self._settings.whole(len(pieces), self._size)
            pieces.append(data[:whole])
            data = data[whole:]
        return [piece.ljust(self._settings.room(packet), b"\0") if packet + 1 < len(pieces)
                else piece for packet, piece in enumerate(pieces)]

    def _header(self, number: int, rank: int, pieces: list[bytes]) -> bytes:
        packets = len(pieces)
        length = sum(map(len, pieces)) + _HEADER.size + packets * _WORD.size
        return _HEADER.pack(_MAGIC, self._settings.ring, self._first + number, length, self._run,
                            packets, rank, self._job.hosts, self._call.element_type, self._call.op,
                            _VERSION)

    def _words(self, number: int, tag: Callable[[bytes, int, int], int], ranks: int) -> Iterator[int]:
        """Of each packet."""
        first = tag(self._key, _FIRST | self._first + number, ranks)
        step = tag(self._key, _STEP | self._first + number, ranks)
        return (tags.total([first, packet * step]) for packet in itertools.count())

    def payloads(self, number: int) -> list[bytes]:
        """This rank's, packet by packet."""
        pieces = self._pieces(number)
        header = self._header(number, self._job.rank, pieces)
        words = self._words(number, tags.of, self._job.rank)
        return [(header if packet == 0 else b"") + piece + _WORD.pack(next(words))
                for packet, piece in enumerate(pieces)]

    def elements_of(self, number: int, slot: bytes) -> bytes:
        """Of the sum that came; ValueError if it is none."""
        pieces = self._pieces(number)
        before = (self._job.rank - 1) % self._job.hosts
        if slot[:_HEADER.size] != self._header(number, before, pieces):
            raise ValueError(f"message {self._first + number} has another header")
        words = self._words(number, tags.of_first, self._job.hosts)
        data, at = b"", _HEADER.size
        for packet, piece in enumerate(pieces):
            (word,) = _WORD.unpack_from(slot, at + len(piece))
            if word != next(words):
                raise ValueError(f"packet {packet} of message {self._first + number} is no sum")
            data += slot[at:at + min(len(piece), self._settings.whole(packet, self._size))]
            at += len(piece) + _WORD.size
        place = self.place(number)
        return data[:place.stop - place.start]
