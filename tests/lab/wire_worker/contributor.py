# SPDX-License-Identifier: BSD-3-Clause
"""A rank's part in the blocks that others lead."""

import dataclasses

import packets
from calls import Blocks, Progress
from round_trips import RoundTrips

_REQUESTS_PER_MILLISECOND = 16


@dataclasses.dataclass
class _Entry:
    attempt: int = 0
    contributed_at: float = 0.0
    ask_at: float = 0.0
    asked: int = 0
    pending: bool = False


class Contributor:
    def __init__(self, blocks: Blocks, progress: Progress, round_trips: RoundTrips, result, send):
        """`result`: of the call, to be filled; `send(packet, address, port)`."""
        self._blocks, self._progress, self._round_trips = blocks, progress, round_trips
        self._result, self._send = result, send
        self._entries: dict[int, _Entry] = {}
        self._pause_until = 0.0

    def _entry(self, block: int) -> _Entry:
        return self._entries.setdefault(block, _Entry())

    def _waits_for(self, block: int) -> bool:
        return (block < self._progress.next and not self._progress.done(block)
                and not self._blocks.is_led(block))

    def _to_leader(self, packet: packets.Packet, block: int) -> None:
        address, port = self._blocks.job.peers[self._blocks.leader(block)]
        packet.destination = address
        self._send(packet, address, port)

    def contribute(self, block: int, now: float) -> None:
        blocks, entry = self._blocks, self._entry(block)
        id = blocks.id(block, entry.attempt)
        packet = blocks.packet(packets.CONTRIBUTION, id, blocks.up(block), counter=1,
                               rank=blocks.job.rank, fingerprint=blocks.tag(id, blocks.job.rank))
        if entry.attempt == packets.DIRECT:
            packet.flags |= packets.BYPASS
        self._to_leader(packet, block)
        entry.contributed_at = now
        entry.asked = 0
        entry.ask_at = now + self._round_trips.timeout(0)

    def ask(self, now: float) -> None:
        """About what is late."""
        if now < self._pause_until:
            return
        late = [block for block, entry in self._entries.items()
                if entry.ask_at <= now and self._waits_for(block)]
        for block in late[:_REQUESTS_PER_MILLISECOND]:
            self._request(block, now)
            self._pause_until = now + 0.001

    def _request(self, block: int, now: float) -> None:
        blocks, entry = self._blocks, self._entry(block)
        behind = blocks.id(self._progress.next, 0)
        self._to_leader(blocks.signed(packets.REQUEST, blocks.id(block, entry.attempt),
                                      children=behind), block)
        entry.asked += 1
        entry.ask_at = now + self._round_trips.timeout(entry.asked)

    def take(self, packet: packets.Packet, block: int, now: float) -> None:
        if packet.kind == packets.RESULT:
            self._take_result(packet, block, now)
        elif packet.rank == self._blocks.leader(block) and self._blocks.is_signed(packet):
            if packet.kind == packets.FAILURE:
                self._take_failure(packet, block, now)
            elif packet.kind == packets.PENDING and self._waits_for(block):
                self._entry(block).pending = True

    def _take_result(self, packet: packets.Packet, block: int, now: float) -> None:
        blocks = self._blocks
        if (not self._waits_for(block) or not blocks.agrees(packet, blocks.bytes_down(block))
                or packet.fingerprint != blocks.total_tag(packet.id)):
            return
        at = block * blocks.job.payload_bytes
        self._result[at:at + len(packet.payload)] = packet.payload
        entry = self._entries.pop(block)
        if (packet.attempt == entry.attempt and packet.rank == packets.NO_RANK
                and not entry.pending):
            self._round_trips.measured(now - entry.contributed_at)
        self._progress.complete(block, packet.congested)

    def _take_failure(self, packet: packets.Packet, block: int, now: float) -> None:
        if self._progress.done(block):
            return
        entry = self._entry(block)
        if packet.attempt < entry.attempt:
            return
        if packet.attempt == entry.attempt and packet.attempt != packets.DIRECT:
            return
        entry.attempt = packet.attempt
        entry.pending = False
        if self._waits_for(block):
            self.contribute(block, now)
