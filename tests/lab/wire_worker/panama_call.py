# SPDX-License-Identifier: BSD-3-Clause
"""How a call becomes the packets of PANAMA's trees."""

import elements
import tags
from calls import BARRIER, Call, Job, as_allreduce
from panama_packets import AGGREGATION, FIN, MASK, NO_CAP, VERSION, Packet


class Packets:
    def __init__(self, job: Job, run: int, call: Call, epoch: int, trees: int, quorum: int):
        self.job, self.run, self.epoch, self.trees, self.quorum = job, run, epoch, trees, quorum
        self.call = as_allreduce(call)
        self._key = tags.key_of_call(job.key, epoch)
        full = -(-len(self.call.vector) // job.payload_bytes)
        self.total = 1 if call.collective == BARRIER else full

    def of_tree(self, tree: int) -> int:
        """How many."""
        return max(-(-(self.total - tree) // self.trees), 0)

    def place(self, tree: int, vid: int) -> slice:
        """In the vector."""
        at = (vid * self.trees + tree) * self.job.payload_bytes
        return slice(at, min(at + self.job.payload_bytes, len(self.call.vector)))

    def contribution(self, tree: int, vid: int) -> Packet:
        payload = self.call.vector[self.place(tree, vid)]
        flags = VERSION | (FIN if self.is_last(tree, vid) else 0) | (MASK if self.is_partial() else 0)
        return Packet(self.job.id, tree, NO_CAP, vid, flags, AGGREGATION, self.call.element_type,
                      self.call.op, self.run, self.epoch, self._elements(len(payload)), 1,
                      self.job.hosts, self.job.rank, self._tag(tree, vid, self.job.rank), payload,
                      1 << self.job.rank if self.is_partial() else 0)

    def is_last(self, tree: int, vid: int) -> bool:
        return vid == self.of_tree(tree) - 1

    def is_partial(self) -> bool:
        """Whether ranks may be missing."""
        return self.quorum < self.job.hosts

    def has_all(self, packet: Packet) -> bool:
        return packet.contributions == self.job.hosts

    def missing(self, packet: Packet) -> list[int]:
        """The ranks that a result lacks."""
        return [] if self.has_all(packet) else [
            rank for rank in range(self.job.hosts) if not packet.present >> rank & 1]

    def _elements(self, payload_bytes: int) -> int:
        return payload_bytes // elements.BYTES[self.call.element_type]

    def _tag(self, tree: int, vid: int, rank: int) -> int:
        return tags.of(self._key, tree << 32 | vid, rank)

    def _tags(self, packet: Packet) -> int:
        """Of the ranks in a result."""
        if self.has_all(packet):
            return tags.of_first(self._key, packet.tree << 32 | packet.vid, self.job.hosts)
        return tags.total(self._tag(packet.tree, packet.vid, rank) for rank in range(self.job.hosts)
                          if packet.present >> rank & 1)

    def is_result(self, packet: Packet) -> bool:
        """Of a packet of this call: everybody is in it, or as many as are needed."""
        if packet.tree >= self.trees or packet.vid >= self.of_tree(packet.tree):
            return False
        place = self.place(packet.tree, packet.vid)
        return (packet.workers == self.job.hosts and packet.contributions >= self.quorum
                and bool(packet.flags & MASK) == self.is_partial()
                and (packet.element_type, packet.op) == (self.call.element_type, self.call.op)
                and packet.elements == self._elements(place.stop - place.start)
                and packet.fingerprint == self._tags(packet))
