# SPDX-License-Identifier: BSD-3-Clause
"""A rank's part in the blocks that it leads."""

import dataclasses

import elements
import packets
import tags
from calls import Blocks, Progress
from packets import Packet
from round_trips import RoundTrips

_ATTEMPTS = (0, 1, 2, 3, packets.DIRECT)
_PENDING_RANKS = 64


@dataclasses.dataclass
class _Block:
    number: int
    attempt: int = 0
    sum: list | None = None
    contributions: int = 0
    fingerprint: int = 0
    came: list[Packet] = dataclasses.field(default_factory=list)  # without their payload
    asked: set[int] = dataclasses.field(default_factory=set)
    due: float = 0.0  # when the attempt has failed, if nothing comes; 0: not yet known
    result: bytes | None = None
    congested: bool = False  # a queue on the way of anything that came about it

    def counted(self) -> set[int]:
        return {packet.rank for packet in self.came} - {packets.NO_RANK}

    def restart(self, attempt: int) -> None:
        self.attempt, self.sum, self.contributions, self.fingerprint = attempt, None, 0, 0
        self.came, self.asked = [], set()


class Leader:
    def __init__(self, blocks: Blocks, progress: Progress, round_trips: RoundTrips, result, send):
        self._blocks, self._progress, self._round_trips = blocks, progress, round_trips
        self._result, self._send = result, send
        self._led: dict[int, _Block] = {}
        self._contributed_below = [0] * blocks.job.hosts  # by rank, as far as it is known
        self.switches_seen = 0

    def take(self, packet: Packet, block: int, now: float) -> None:
        """A packet about a block that this rank leads."""
        if packet.kind == packets.CONTRIBUTION and self._is_acceptable(packet, block):
            self._block(block).congested |= packet.congested
            self._take_contribution(packet, self._block(block), now)
        elif packet.kind == packets.REQUEST and self._blocks.is_signed(packet):
            self._block(block).congested |= packet.congested
            self._take_request(packet, self._block(block), now)

    def _block(self, number: int) -> _Block:
        return self._led.setdefault(number, _Block(number))

    def _is_acceptable(self, packet: Packet, block: int) -> bool:
        if (not self._blocks.agrees(packet, len(self._blocks.up(block)))
                or packet.child_port not in packets.PORTS
                or not packets.is_host(packet.child_address)
                or packet.collided and not packets.is_host(packet.switch_ipv4)):
            return False
        if packet.rank == packets.NO_RANK:
            return packet.attempt != packets.DIRECT
        return packet.counter == 1 and self._blocks.is_signed(packet)

    def _take_contribution(self, packet: Packet, block: _Block, now: float) -> None:
        by_switch = packet.rank == packets.NO_RANK
        if by_switch:
            self.switches_seen += 1
        else:
            self._has_contributed(packet.rank, block.number + 1)
        if block.result is not None:
            self._release(packet) if by_switch else self._answer(block, packet)
        elif packet.attempt < block.attempt:
            self._release(packet) if by_switch else self._fail(block, packet.rank)
        elif packet.attempt == block.attempt and not self._is_counted(packet, block):
            self._add(packet, block, now)

    @staticmethod
    def _is_counted(packet: Packet, block: _Block) -> bool:
        if packet.rank != packets.NO_RANK:
            return packet.rank in block.counted()
        return any((packet.fingerprint, packet.child_address, packet.child_port)
                   == (known.fingerprint, known.child_address, known.child_port)
                   for known in block.came)

    def _add(self, packet: Packet, block: _Block, now: float) -> None:
        call = self._blocks.call
        values = elements.load(call.element_type, packet.payload)
        block.sum = values if block.sum is None else elements.combine(
            call.element_type, call.op, block.sum, values)
        packet.payload = b""
        block.came.append(packet)
        block.contributions += packet.counter
        block.fingerprint = tags.total((block.fingerprint, packet.fingerprint))
        if block.due:
            block.due = max(block.due, now + self._round_trips.quiet())
        if block.contributions < self._blocks.job.hosts - 1:
            return
        if not self._is_right(block):
            self._try_again(block, now)
        elif not self._blocks.is_completion(block.number):
            self._finish(block)

    def _is_right(self, block: _Block) -> bool:
        id = self._blocks.id(block.number, block.attempt)
        others = self._blocks.job.others()
        return (block.contributions == len(others) and block.fingerprint
                == tags.total(self._blocks.tag(id, rank) for rank in others))

    def finish_completion(self) -> None:
        """Once all else is done."""
        block = self._led.get(self._blocks.count - 1)
        if (block is not None and self._progress.all_but_completion() and block.result is None
                and block.contributions == self._blocks.job.hosts - 1):
            self._finish(block)

    def _finish(self, block: _Block) -> None:
        blocks, call = self._blocks, self._blocks.call
        if up := blocks.up(block.number):
            own = elements.load(call.element_type, up)
            total = elements.combine(call.element_type, call.op, block.sum, own)
            block.result = elements.store(call.element_type, total)
        else:
            block.result = blocks.data(block.number)
        at = block.number * blocks.job.payload_bytes
        self._result[at:at + len(block.result)] = block.result
        block.result = block.result[:blocks.bytes_down(block.number)]
        for contribution in {self._recipient(packet): packet for packet in block.came}.values():
            self._answer(block, contribution)
        self._progress.complete(block.number, block.congested)

    def _recipient(self, contribution: Packet) -> tuple:
        child = (contribution.child_address, contribution.child_port)
        if not contribution.collided:
            return child
        return (*child, contribution.children, contribution.shard, contribution.switch_address,
                contribution.switch_ipv4, contribution.child_mac)

    def _answer(self, block: _Block, contribution: Packet) -> None:
        if not contribution.collided:
            return self._send_result(block, contribution.child_address, contribution.child_port)
        packet = self._total(packets.RESTORATION, block)
        for name in ("children", "shard", "switch_address", "switch_ipv4", "child_mac",
                     "child_address", "child_port"):
            setattr(packet, name, getattr(contribution, name))
        self._send_down(packet, contribution.switch_ipv4, packets.PORTS[0])

    def _send_result(self, block: _Block, address: int, port: int, **fields) -> None:
        self._send_down(self._total(packets.RESULT, block, **fields), address, port)

    def _total(self, kind: int, block: _Block, **fields) -> Packet:
        blocks = self._blocks
        id = blocks.id(block.number, block.attempt)
        packet = blocks.packet(kind, id, block.result, counter=blocks.job.hosts,
                               fingerprint=blocks.total_tag(id), **fields)
        packet.flags |= packets.CONGESTED if block.congested else 0
        return packet

    def _send_down(self, packet: Packet, address: int, port: int) -> None:
        packet.flags |= packets.MULTICAST
        packet.destination = address
        self._send(packet, address, port)

    def _release(self, contribution: Packet) -> None:
        packet = self._blocks.packet(packets.RELEASE, contribution.id)
        self._send_down(packet, contribution.child_address, contribution.child_port)

    def _to_rank(self, packet: Packet, rank: int) -> None:
        address, port = self._blocks.job.peers[rank]
        packet.destination = address
        self._send(packet, address, port)

    def _fail(self, block: _Block, rank: int) -> None:
        id = self._blocks.id(block.number, block.attempt)
        self._to_rank(self._blocks.signed(packets.FAILURE, id), rank)

    def _try_again(self, block: _Block, now: float) -> None:
        given_up = [packet for packet in block.came if packet.rank == packets.NO_RANK]
        block.restart(_ATTEMPTS[_ATTEMPTS.index(block.attempt) + 1])
        block.due = now + self._round_trips.timeout(2)
        for rank in self._blocks.job.others():
            self._fail(block, rank)
        for packet in given_up:
            self._release(packet)

    def _has_contributed(self, rank: int, below: int) -> None:
        self._contributed_below[rank] = max(self._contributed_below[rank], below)

    def _missing(self, block: _Block) -> list[int]:
        """Ranks that are not known to have contributed under this attempt."""
        known = block.counted()
        if block.attempt != packets.DIRECT:
            known |= block.asked
        if block.attempt == 0:
            known |= {rank for rank in self._blocks.job.others()
                      if block.number < max(self._progress.all_have_contributed_below,
                                            self._contributed_below[rank])}
        return [rank for rank in self._blocks.job.others() if rank not in known]

    def _take_request(self, packet: Packet, block: _Block, now: float) -> None:
        behind = self._blocks.block_of(packet.children)
        if behind <= self._blocks.count:
            self._has_contributed(packet.rank, behind)
        if block.result is not None:
            address, port = self._blocks.job.peers[packet.rank]
            return self._send_result(block, address, port, rank=self._blocks.job.rank)
        is_direct = block.attempt == packets.DIRECT
        if packet.attempt < block.attempt or is_direct and packet.rank not in block.counted():
            return self._fail(block, packet.rank)
        if packet.attempt > block.attempt:
            return
        block.asked.add(packet.rank)
        missing = self._missing(block)
        if missing or is_direct or block.contributions == self._blocks.job.hosts - 1:
            return self._tell_pending(packet, block, missing)
        if not block.due:
            everybody = len(block.asked) == self._blocks.job.hosts - 1
            wait = self._round_trips.quiet() if everybody else self._round_trips.timeout(0)
            block.due = now + wait

    def _tell_pending(self, request: Packet, block: _Block, missing: list[int]) -> None:
        ranks = elements.store(elements.I16, missing[:_PENDING_RANKS])
        packet = self._blocks.signed(packets.PENDING, request.id, ranks,
                                     counter=min(block.contributions, self._blocks.job.hosts - 1))
        packet.element_type, packet.op = elements.I16, elements.SUM
        packet.elements = len(ranks) // 2
        self._to_rank(packet, request.rank)

    def give_up_late(self, now: float) -> None:
        """Attempts whose contributions were lost."""
        for block in self._led.values():
            if block.result is not None or not block.due or now < block.due:
                continue
            if block.contributions == self._blocks.job.hosts - 1:
                continue  # to the completion, which waits for this rank
            if block.attempt != packets.DIRECT:
                self._try_again(block, now)
                continue
            block.due = now + self._round_trips.timeout(2)
            for rank in self._missing(block):
                self._fail(block, rank)
