# SPDX-License-Identifier: BSD-3-Clause
"""Calls, and how they become blocks; what the ranks of a job agreed on."""

import dataclasses

import elements
import packets
import tags
from congestion_window import Window

ALLREDUCE, REDUCE, BROADCAST, BARRIER = "allreduce", "reduce", "broadcast", "barrier"
SPARSE_ALLREDUCE = "sparse_allreduce"
COMPLETION_ABOVE = 262144  # bytes of a vector


class Late(Exception):
    """A call that was not done by its deadline."""


@dataclasses.dataclass(frozen=True)
class Job:
    id: int
    key: bytes
    rank: int
    peers: list[tuple[int, int]]  # address and port, by rank
    payload_bytes: int
    window: int
    ends: list[bytes]  # what the protocol told of each rank

    @property
    def hosts(self) -> int:
        return len(self.peers)

    def others(self) -> list[int]:
        return [rank for rank in range(self.hosts) if rank != self.rank]


@dataclasses.dataclass(frozen=True)
class Call:
    collective: str
    vector: bytes = b""
    element_type: int = elements.F32
    op: int = elements.SUM
    root: int = 0


_AS_WIDE = {1: elements.I8, 2: elements.I16, 4: elements.I32, 8: elements.I64}


def as_allreduce(call: Call) -> Call:
    """The same for a protocol that knows nothing else. Others than the root broadcast zeros."""
    if call.collective == BROADCAST:
        integer = _AS_WIDE[min(elements.BYTES[call.element_type], 8)]
        return Call(ALLREDUCE, call.vector, integer, elements.OR)
    return Call(ALLREDUCE, call.vector, call.element_type, call.op)


class Blocks:
    def __init__(self, job: Job, call: Call, number: int, first: int):
        self.job, self.call, self.first = job, call, first
        self.key = tags.key_of_call(job.key, number)
        self.has_completion = len(call.vector) > COMPLETION_ABOVE
        full = -(-len(call.vector) // job.payload_bytes)
        self.count = 1 if call.collective == BARRIER else full + self.has_completion

    def next_first(self) -> int:
        return (self.first + self.count) % packets.SEQUENCES

    def leader(self, block: int) -> int:
        if self.call.collective in (REDUCE, BROADCAST):
            return self.call.root
        return block % self.job.hosts

    def is_led(self, block: int) -> bool:
        return self.leader(block) == self.job.rank

    def is_completion(self, block: int) -> bool:
        return self.has_completion and block == self.count - 1

    def id(self, block: int, attempt: int) -> int:
        return attempt * packets.SEQUENCES + (self.first + block) % packets.SEQUENCES

    def block_of(self, sequence: int) -> int:
        """`count` or more if it is none of this call."""
        return (sequence - self.first) % packets.SEQUENCES

    def data(self, block: int) -> bytes:
        at = block * self.job.payload_bytes
        return self.call.vector[at:at + self.job.payload_bytes]

    def up(self, block: int) -> bytes:
        return self.data(block) if self.call.collective in (ALLREDUCE, REDUCE) else b""

    def bytes_down(self, block: int) -> int:
        down = self.call.collective in (ALLREDUCE, BROADCAST)
        return len(self.data(block)) if down else 0

    def tag(self, id: int, rank: int, kind: int = packets.CONTRIBUTION) -> int:
        if kind == packets.CONTRIBUTION:
            return tags.of(self.key, id, rank)
        return tags.of_sender(self.key, id, rank, kind)

    def total_tag(self, id: int) -> int:
        return tags.of_first(self.key, id, self.job.hosts)

    def packet(self, kind: int, id: int, payload: bytes = b"", **fields) -> packets.Packet:
        """To be addressed."""
        size = elements.BYTES[self.call.element_type]
        address, port = self.job.peers[self.job.rank]
        common = {"hosts": self.job.hosts, "element_type": self.call.element_type,
                  "op": self.call.op, "job": self.job.id, "elements": len(payload) // size,
                  "child_address": address, "child_port": port, "rank": packets.NO_RANK}
        return packets.Packet(kind=kind, id=id, payload=payload, **common | fields)

    def signed(self, kind: int, id: int, payload: bytes = b"", **fields) -> packets.Packet:
        """Request, failure or pending, which tell who made them."""
        return self.packet(kind, id, payload, rank=self.job.rank,
                           fingerprint=self.tag(id, self.job.rank, kind), **fields)

    def is_signed(self, packet: packets.Packet) -> bool:
        return (packet.rank < self.job.hosts and packet.rank != self.job.rank
                and packet.fingerprint == self.tag(packet.id, packet.rank, packet.kind))

    def agrees(self, packet: packets.Packet, payload_bytes: int) -> bool:
        return (packet.hosts == self.job.hosts and packet.element_type == self.call.element_type
                and packet.op == self.call.op and len(packet.payload) == payload_bytes)


class Progress:
    """Which blocks of a call are opened, and which are done."""

    def __init__(self, blocks: Blocks, open_most: Window):
        self.blocks = blocks
        self.window = blocks.job.window
        self._open_most = open_most
        self.lowest = 0  # that is not done
        self.next = 0    # that was never opened
        self.open = 0
        self.all_have_contributed_below = 0  # everybody is in the result of a block, and in order
        self._done: set[int] = set()

    def done(self, block: int) -> bool:
        return block < self.lowest or block in self._done

    def finished(self) -> bool:
        return self.lowest == self.blocks.count

    def all_but_completion(self) -> bool:
        return self.blocks.has_completion and self.lowest >= self.blocks.count - 1

    def may_open(self) -> bool:
        if self.next == self.blocks.count or self.next >= self.lowest + 4 * self.window:
            return False
        if self.blocks.is_completion(self.next) and not self.all_but_completion():
            return False
        return self.open < min(self.window, self._open_most.size) or self.done(self.next)

    def open_next(self) -> int:
        self.open += not self.done(self.next)
        self.next += 1
        return self.next - 1

    def complete(self, block: int, congested: bool) -> None:
        self._open_most.result(congested, self.window)
        self.open -= block < self.next
        self.all_have_contributed_below = max(self.all_have_contributed_below, block + 1)
        self._done.add(block)
        while self.lowest in self._done:
            self._done.remove(self.lowest)
            self.lowest += 1

    def is_near(self, block: int) -> bool:
        return block < min(self.blocks.count, self.lowest + 8 * self.window + 2)
