# SPDX-License-Identifier: BSD-3-Clause
"""One rank's part in a sparse allreduce by Flare: the opening, and the blocks behind it."""

import dataclasses
import struct

import elements
import tags
from calls import ALLREDUCE, Call, Job
from flare_packets import (ANSWER, CONTRIBUTION, OFFSET_BYTES, PAIRS, RESULT, RETRANSMISSION, RUN,
                           SPARSE, VERSION, SparsePacket)
from flare_window import Window
from round_trips import RoundTrips

_OPENING_KEY_BITS = 0x53
_LONGER_HEADER = 32
_RUNS_MOST, _SPAN_MOST = 32, 65535
_WHOLE = 65535  # in the packet's number, for all that a rank contributes to a block


@dataclasses.dataclass(frozen=True)
class SparseCall:
    count: int  # elements of the vector
    element_type: int
    pairs: list[tuple[int, bytes]]  # index and element; indices increase

    @classmethod
    def of(cls, vector: bytes, element_type: int) -> "SparseCall":
        """What is not zero in a vector."""
        size = elements.BYTES[element_type]
        cut = (vector[at:at + size] for at in range(0, len(vector), size))
        pairs = [(index, element) for index, element in enumerate(cut) if any(element)]
        return cls(len(vector) // size, element_type, pairs)


def _low_six_bytes(block: int) -> bytes:
    return (block % (1 << 48)).to_bytes(6, "big")


def _whole(block: int) -> int:
    """The number of the packet that all shards of a contribution are together."""
    return int.from_bytes(struct.pack(">H", _WHOLE) + _low_six_bytes(block), "big")


def opening_of(call: SparseCall, next_block: int) -> Call:
    """`next_block`: behind the last sparse block that this rank knows of."""
    numbers = [len(call.pairs), next_block, call.count, -call.count, call.element_type,
               -call.element_type]
    return Call(ALLREDUCE, elements.store(elements.I64, numbers), elements.I64, elements.MAX)


def opening_key(key_of_call: bytes) -> bytes:
    return key_of_call[:-1] + bytes([key_of_call[-1] ^ _OPENING_KEY_BITS])


@dataclasses.dataclass(frozen=True)
class Opened:
    """What the result of an opening says."""
    present: int  # elements of the rank that brings most
    first: int    # block of the call

    @classmethod
    def of(cls, result: bytes) -> "Opened":
        present, first, count, less_count, kind, less_kind = elements.load(elements.I64, result)
        if count != -less_count or kind != -less_kind:
            raise RuntimeError("the ranks' vectors differ in length or type")
        return cls(present, first)


class Shape:
    """How elements of a type lie in packets of `full` bytes."""

    def __init__(self, full: int, element_type: int):
        self.full, self.size = full, elements.BYTES[element_type]
        self.pairs = full // (OFFSET_BYTES + self.size)
        self.run = full // self.size
        self.span_most = min(_RUNS_MOST * self.run, _SPAN_MOST)

    def span(self, opened: Opened, count: int) -> int:
        if opened.present == 0:
            return self.span_most
        span = 7 * self.pairs // 8 * count // opened.present
        return min(max(span, min(self.run, _SPAN_MOST)), self.span_most)

    def goes_as_pairs(self, present: int, span: int) -> bool:
        shards = max(-(-present // self.pairs), 1)
        return (present * (OFFSET_BYTES + self.size) < span * self.size
                and shards <= -(-span // self.run))


def full_of(job: Job) -> int:
    return job.payload_bytes - _LONGER_HEADER


@dataclasses.dataclass(frozen=True)
class Shard:
    form: int
    elements: int
    first: int
    payload: bytes


class SparsePart:
    def __init__(self, job: Job, run: int, window: int, call: SparseCall, key: bytes,
                 opened: Opened, round_trips: RoundTrips):
        """`key`: of the opening."""
        self._job, self._run, self._size, self._key = job, run, window, key
        self._call, self._first = call, opened.first
        self._shape = Shape(full_of(job), call.element_type)
        self._span = self._shape.span(opened, call.count)
        self._count = -(-call.count // self._span)
        self._window = Window(self._count, window, round_trips)
        self._pairs: dict[int, list[tuple[int, bytes]]] = {}  # by place of the block: offset, element
        for index, element in call.pairs:
            place, offset = divmod(index, self._span)
            self._pairs.setdefault(place, []).append((offset, element))
        self._came: dict[int, dict[int, SparsePacket]] = {}  # by block and shard, of one edition
        self.result = bytearray(call.count * self._shape.size)

    @property
    def end(self) -> int:
        """Behind the last block."""
        return self._first + self._count

    def finished(self) -> bool:
        return self._window.finished()

    def to_send(self, now: float):
        for index, again in self._window.to_send(now):
            yield from self._contribution(index, RETRANSMISSION if again else 0)

    def answer(self, block: int):
        """What a switch gets that asks for the block."""
        if self._window.lacks(block - self._first):
            yield from self._contribution(block - self._first, RETRANSMISSION | ANSWER)

    def _span_of(self, index: int) -> int:
        return min(self._span, self._call.count - index * self._span)

    def _shards(self, index: int) -> list[Shard]:
        pairs, span = self._pairs.get(index, []), self._span_of(index)
        if self._shape.goes_as_pairs(len(pairs), span):
            return list(self._shards_of_pairs(pairs)) or [Shard(PAIRS, 0, 0, b"")]
        return list(self._shards_of_runs(pairs, span))

    def _shards_of_pairs(self, pairs: list[tuple[int, bytes]]):
        for at in range(0, len(pairs), self._shape.pairs):
            some = pairs[at:at + self._shape.pairs]
            payload = b"".join(struct.pack("<H", offset) + element for offset, element in some)
            yield Shard(PAIRS, len(some), 0, payload)

    def _shards_of_runs(self, pairs: list[tuple[int, bytes]], span: int):
        size = self._shape.size
        every = bytearray(span * size)
        for offset, element in pairs:
            every[offset * size:(offset + 1) * size] = element
        for first in range(0, span, self._shape.run):
            count = min(self._shape.run, span - first)
            yield Shard(RUN, count, first, bytes(every[first * size:(first + count) * size]))

    def _contribution(self, index: int, flags: int):
        shards = self._shards(index)
        block = self._first + index
        for number, shard in enumerate(shards):
            is_last = number == len(shards) - 1
            yield SparsePacket(
                self._job.id, self._run, block, SPARSE | VERSION | flags, CONTRIBUTION,
                self._call.element_type, elements.SUM, shard.elements, int(is_last), self._job.hosts,
                self._size, self._tag_of_shard(block, number, len(shards)), 0, self._span_of(index),
                shard.first, self._shape.full, number, len(shards) if is_last else 0, shard.form,
                bytes(3), shard.payload)

    def _part(self, block: int, number: int) -> int:
        return tags.siphash(self._key,
                            struct.pack(">H6sI", number, _low_six_bytes(block), self._job.rank))

    def _tag_of_shard(self, block: int, number: int, shards: int) -> int:
        if number < shards - 1:
            return self._part(block, number + 1)
        others = sum(self._part(block, other + 1) for other in range(number))
        return (tags.of(self._key, _whole(block), self._job.rank) - others) % (1 << 64)

    def _total_tag(self, block: int) -> int:
        return tags.of_first(self._key, _whole(block), self._job.hosts)

    def take(self, packet: SparsePacket, now: float) -> list[SparsePacket]:
        """All shards of a result, when the last of them has come."""
        index = packet.block - self._first
        if not self._window.lacks(index) or not self._is_result(packet, index):
            return []
        came = self._came.setdefault(packet.block, {})
        if any(other.edition != packet.edition for other in came.values()):
            came.clear()
        came[packet.shard] = packet
        if len(came) < packet.shards:
            return []
        del self._came[packet.block]
        shards = [came[number] for number in sorted(came)]
        if not self._write(index, shards):
            return []
        self._window.done(index, now)
        return shards

    def _is_result(self, packet: SparsePacket, index: int) -> bool:
        return (packet.kind == RESULT and packet.window == self._size
                and packet.workers == packet.contributions == self._job.hosts
                and (packet.element_type, packet.op) == (self._call.element_type, elements.SUM)
                and (packet.span, packet.full) == (self._span_of(index), self._shape.full)
                and packet.fingerprint == self._total_tag(packet.block))

    def _write(self, index: int, shards: list[SparsePacket]) -> bool:
        """Whether it is one."""
        size, span = self._shape.size, self._span_of(index)
        every = bytearray(span * size)
        next_offset = 0
        for shard in shards:
            step = size if shard.form == RUN else OFFSET_BYTES + size
            if shard.form == RUN and shard.first != next_offset:
                return False
            for at in range(0, len(shard.payload), step):
                offset = next_offset
                if shard.form == PAIRS:
                    (offset,) = struct.unpack_from("<H", shard.payload, at)
                if not next_offset <= offset < span:
                    return False
                every[offset * size:(offset + 1) * size] = shard.payload[at + step - size:at + step]
                next_offset = offset + 1
        is_whole = shards[0].form == PAIRS or next_offset == span
        alike = all(shard.form == shards[0].form for shard in shards)
        begin = index * self._span * size
        if is_whole and alike:
            self.result[begin:begin + len(every)] = every
        return is_whole and alike


def probe(job: Job) -> SparseCall:
    """An empty block of each flow."""
    return SparseCall(64 * Shape(full_of(job), elements.F32).span_most, elements.F32, [])
