# SPDX-License-Identifier: BSD-3-Clause
"""One rank's collectives by PANAMA, also where results may lack ranks."""

import math
import select
import socket
import time
import zlib

import elements
import panama_packets
import tags
from calls import ALLREDUCE, Call, Job, Late
from panama_call import Packets
from panama_packets import ANSWER, INQUIRY, RESULT, RETRANSMISSION, Packet
from panama_socket import Groups
from panama_tree import Tree
from congestion_window import Window
from round_trips import RoundTrips

_TICK_S = 0.002
_LEAST_WINDOW = 2


class _Part:
    """This rank's part in one call."""

    def __init__(self, packets: Packets, trees: list[Tree]):
        self.packets, self._trees = packets, trees
        self.result = bytearray(packets.call.vector)
        self.missing: list[tuple[slice, list[int]]] = []  # bytes of the result, and whom they lack

    def finished(self) -> bool:
        return all(tree.finished() for tree in self._trees)

    def to_send(self, now: float):
        """Trees take turns."""
        while ready := [tree for tree in self._trees if tree.may_send()]:
            yield from (tree.send_next(now) for tree in ready)
        yield from filter(None, (tree.late(now) for tree in self._trees))

    def take(self, packet: Packet, marked: bool, now: float) -> bool:
        """Whether it is a result, and news."""
        news = (self.packets.is_result(packet)
                and self._trees[packet.tree].take(packet, marked, now))
        if not news:
            return False
        place = self.packets.place(packet.tree, packet.vid)
        self.result[place] = packet.payload
        if missing := self.packets.missing(packet):
            self.missing.append((place, missing))
        return True

    def owed(self) -> list[tuple[int, int]]:
        """Results of the last packets of trees, with which this rank says that it has come so far."""
        owing = [number for number, tree in enumerate(self._trees) if tree.owes_last]
        for number in owing:
            self._trees[number].owes_last = False
        return [(number, self.packets.of_tree(number) - 1) for number in owing]


class Panama:
    NAME = "panama"
    window = 64
    _HEADERS_BYTES = 20 + 8 + 48  # IPv4, UDP, PANAMA
    switches_seen = True  # nobody else makes results

    def __init__(self, address: str, groups: list[str], congestion_control: bool, world: int,
                 share: float):
        self._groups_crc = zlib.crc32(",".join(groups).encode())
        self._groups = Groups(address, groups)
        self._congestion_control = congestion_control
        self._windows = [Window(congestion_control) for _ in groups]
        self._caps = [panama_packets.NO_CAP for _ in groups]  # that the results told of late
        self._round_trips = RoundTrips()
        self._world, self._quorum = world, math.ceil(share * world - 1e-9)
        self._epoch = 0
        self._early: list[tuple[Packet, bool]] = []  # results of the next call
        self._partial = 0  # results that lacked somebody
        self._answers = 0  # to inquiries
        self._part: _Part | None = None
        self._results: dict[tuple[int, int, int], Packet] = {}  # by epoch, tree and VID

    def payload_bytes(self, mtu: int) -> int:
        mask = panama_packets.mask_bytes(self._world) if self._quorum < self._world else 0
        return (mtu - self._HEADERS_BYTES - mask) // 32 * 32

    def hello(self, world: int) -> dict:
        return {"settings": (self._groups_crc, self._congestion_control, self._quorum)}

    def begin(self, job: Job) -> None:
        self._job = job
        self._run = tags.siphash(job.key, b"\xff" * 12) % (1 << 32)

    def probe(self) -> list[Call]:
        payload = bytes(len(self._windows) * self._job.payload_bytes)
        return [Call(ALLREDUCE, payload, elements.I8)]

    def call(self, call: Call, deadline: float) -> bytes:
        """The result; raises Late."""
        packets = Packets(self._job, self._run, call, self._epoch, len(self._windows),
                          self._quorum)
        if packets.total == 0:
            return b""
        most = max(self._job.window // len(self._windows), _LEAST_WINDOW)
        part = self._part = _Part(packets, [
            Tree(packets, number, window, most, self._round_trips)
            for number, window in enumerate(self._windows)])
        self._epoch += 1
        early, self._early = self._early, []
        for packet, marked in early:
            self._take(packet, marked)
        while not part.finished():
            self.tend(_TICK_S)
            if time.monotonic() > deadline:
                raise Late(f"epoch {packets.epoch} is not over")
        self._send_owed()
        return bytes(part.result)

    @property
    def missing(self) -> list[tuple[slice, list[int]]]:
        """Whom parts of the last call's result lack."""
        return self._part.missing if self._part else []

    def tend(self, wait_s: float | None, other: socket.socket | None = None) -> bool:
        """Sends what is due and takes what came; returns, then or after a while, whether `other` can
        be read."""
        for packet in self._part.to_send(time.monotonic()) if self._part else ():
            self._groups.send(packet.tree, packet.encode())
        watched = [self._groups.socket] if other is None else [self._groups.socket, other]
        ready, _, _ = select.select(watched, [], [], wait_s)
        if self._groups.socket in ready:
            self._receive()
        return other in ready

    def summary(self) -> str:
        """What a test may want to know."""
        return f"calls: {self._epoch}, answers to inquiries: {self._answers}, partial: {self._partial}"

    def _receive(self) -> None:
        while came := self._groups.receive():
            datagram, marked = came
            packet = panama_packets.decode(datagram)
            if packet is not None and (packet.job, packet.run) == (self._job.id, self._run):
                if packet.kind == INQUIRY:
                    self._answer(packet)
                elif packet.kind == RESULT and self._part:
                    self._take(packet, marked)

    def _take(self, packet: Packet, marked: bool) -> None:
        part = self._part
        if packet.epoch == self._epoch and self._quorum < self._world:
            self._early.append((packet, marked))
            return
        if packet.epoch != part.packets.epoch or not part.take(packet, marked, time.monotonic()):
            return
        self._caps[packet.tree] = packet.wnd_cap
        has_all = part.packets.has_all(packet)
        self._partial += not has_all
        if has_all:  # they lack nothing of the calls before
            self._results = {key: kept for key, kept in self._results.items() if key[0] == packet.epoch}
        self._results[packet.epoch, packet.tree, packet.vid] = packet
        self._send_owed()

    def _send_owed(self) -> None:
        for tree, vid in self._part.owed():
            self._send_up(self._results[self._part.packets.epoch, tree, vid], 0)

    def _answer(self, inquiry: Packet) -> None:
        kept = self._results.get((inquiry.epoch, inquiry.tree, inquiry.vid))
        if kept is not None:
            self._send_up(kept, ANSWER)
            self._answers += 1

    def _send_up(self, result: Packet, flags: int) -> None:
        result.flags = result.flags & ~(RETRANSMISSION | ANSWER) | flags
        result.wnd_cap = max(self._caps[result.tree], _LEAST_WINDOW)
        self._groups.send(result.tree, result.encode())
