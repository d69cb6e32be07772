# SPDX-License-Identifier: BSD-3-Clause
"""One rank's part in a call by Flare's dense blocks."""

import elements
import tags
from calls import BARRIER, Call, Job, as_allreduce
from flare_packets import ANSWER, CONTRIBUTION, RESULT, RETRANSMISSION, VERSION, Packet
from flare_window import Window
from round_trips import RoundTrips


def blocks_of(job: Job, call: Call) -> int:
    """How many a call has."""
    return 1 if call.collective == BARRIER else -(-len(call.vector) // job.payload_bytes)


class DensePart:
    def __init__(self, job: Job, run: int, call: Call, key: bytes, first: int,
                 round_trips: RoundTrips):
        """`key`: of the call; `first`: number of its first block."""
        self._job, self._run, self._key, self._first = job, run, key, first
        self._call = as_allreduce(call)
        self._count = blocks_of(job, call)
        self._window = Window(self._count, job.window, round_trips)
        self.result = bytearray(self._call.vector)

    def finished(self) -> bool:
        return self._window.finished()

    def to_send(self, now: float):
        for index, again in self._window.to_send(now):
            yield self._contribution(index, RETRANSMISSION if again else 0)

    def answer(self, block: int):
        """What a switch gets that asks for the block."""
        if self._window.lacks(block - self._first):
            yield self._contribution(block - self._first, RETRANSMISSION | ANSWER)

    def _place(self, index: int) -> slice:
        at = index * self._job.payload_bytes
        return slice(at, min(at + self._job.payload_bytes, len(self._call.vector)))

    def _contribution(self, index: int, flags: int) -> Packet:
        payload = self._call.vector[self._place(index)]
        block = self._first + index
        return Packet(self._job.id, self._run, block, VERSION | flags, CONTRIBUTION,
                      self._call.element_type, self._call.op,
                      len(payload) // elements.BYTES[self._call.element_type], 1, self._job.hosts,
                      self._job.window, self._tag(block, self._job.rank), payload)

    def _tag(self, block: int, rank: int) -> int:
        return tags.of(self._key, block, rank)

    def _total_tag(self, block: int) -> int:
        return tags.of_first(self._key, block, self._job.hosts)

    def take(self, packet: Packet, now: float) -> bool:
        """Whether it is a result, and news."""
        index = packet.block - self._first
        if not self._window.lacks(index) or not self._is_result(packet, index):
            return False
        self.result[self._place(index)] = packet.payload
        self._window.done(index, now)
        return True

    def _is_result(self, packet: Packet, index: int) -> bool:
        place = self._place(index)
        return (packet.kind == RESULT and packet.window == self._job.window
                and packet.workers == packet.contributions == self._job.hosts
                and (packet.element_type, packet.op) == (self._call.element_type, self._call.op)
                and len(packet.payload) == place.stop - place.start
                and packet.fingerprint == self._total_tag(packet.block))
