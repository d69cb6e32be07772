# SPDX-License-Identifier: BSD-3-Clause
"""One rank's collectives by Canary, over a UDP socket."""

import select
import socket
import time

import elements
import packets
import tags
from calls import ALLREDUCE, Blocks, Call, Job, Late, Progress
from congestion_window import Window
from contributor import Contributor
from leader import Leader
from round_trips import RoundTrips

_TRAFFIC_CLASS = 0x02  # ECT(0)
_CE = 3
_FIRST_WINDOW = 16
_IP_MTU_DISCOVER, _IP_PMTUDISC_DO = 10, 2  # "do not fragment"
_SO_NO_CHECK = 11
_TICK_S = 0.002
_PROBE_BLOCKS = 64


def open_socket(address: str) -> socket.socket:
    """At the first port of Canary's that is free."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, _TRAFFIC_CLASS)
    opened.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    opened.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_DO)
    opened.setsockopt(socket.SOL_SOCKET, _SO_NO_CHECK, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    opened.setblocking(False)
    for port in packets.PORTS:
        try:
            opened.bind((address, port))
            return opened
        except OSError:
            continue
    raise OSError(f"no port of Canary's is free at {address}")


class _Part:
    """This rank's part in one call."""

    def __init__(self, job: Job, call: Call, number: int, first: int, round_trips, window, send):
        self.blocks = Blocks(job, call, number, first)
        self.progress = Progress(self.blocks, window)
        self.result = bytearray(call.vector)
        parts = (self.blocks, self.progress, round_trips, self.result, send)
        self.contributor = Contributor(*parts)
        self.leader = Leader(*parts)

    def take(self, packet: packets.Packet, now: float) -> None:
        block = self.blocks.block_of(packet.sequence)
        if not self.progress.is_near(block):
            return
        if not self.blocks.is_led(block):
            self.contributor.take(packet, block, now)
        else:
            self.leader.take(packet, block, now)

    def open_blocks(self, now: float) -> None:
        while self.progress.may_open():
            block = self.progress.open_next()
            if not self.progress.done(block) and not self.blocks.is_led(block):
                self.contributor.contribute(block, now)
        self.leader.finish_completion()


class Canary:
    NAME = "canary"
    window = 64
    _HEADERS_BYTES = 20 + 8 + 64  # IPv4, UDP, Canary

    def __init__(self, address: str):
        self._socket = open_socket(address)
        self._round_trips = RoundTrips()
        self._window = Window(True, _FIRST_WINDOW, float("inf"), whole_round_trips=True)
        self._next_call = 0
        self._current: _Part | None = None
        self._past: _Part | None = None
        self._early: list[packets.Packet] = []
        self.switches_seen = False

    def payload_bytes(self, mtu: int) -> int:
        return (mtu - self._HEADERS_BYTES) // 32 * 32

    def hello(self, _world: int) -> dict:
        """What the others have to know of it before they meet."""
        return {"port": self._socket.getsockname()[1]}

    def begin(self, job: Job) -> None:
        self._job = job
        self._next_first = tags.first_sequence(job.key)

    def probe(self) -> list[Call]:
        blocks = min(self._job.hosts, _PROBE_BLOCKS)
        return [Call(ALLREDUCE, bytes(blocks * self._job.payload_bytes), elements.I8)]

    def summary(self) -> str:
        """What a test may want to know."""
        return f"calls: {self._next_call}"

    def call(self, call: Call, deadline: float) -> bytes:
        """The result; raises Late."""
        part = _Part(self._job, call, self._next_call, self._next_first, self._round_trips,
                     self._window, self._send)
        if part.blocks.count == 0:
            return b""
        self._next_call += 1
        self._next_first = part.blocks.next_first()
        self._past, self._current = self._current, part
        early, self._early = self._early, []
        for packet in early:
            self._take(packet)
        while not part.progress.finished():
            part.open_blocks(time.monotonic())
            self.tend(_TICK_S)
            if time.monotonic() > deadline:
                raise Late(f"block {part.progress.lowest} of {part.blocks.count} has no result")
        return bytes(part.result)

    def tend(self, wait_s: float | None, other: socket.socket | None = None) -> bool:
        """Takes what came; returns, then or after a while, whether `other` can be read."""
        watched = [self._socket] if other is None else [self._socket, other]
        ready, _, _ = select.select(watched, [], [], wait_s)
        if self._socket in ready:
            self._receive()
        if self._current is not None and not self._current.progress.finished():
            now = time.monotonic()
            self._current.contributor.ask(now)
            self._current.leader.give_up_late(now)
        return other in ready

    def _receive(self) -> None:
        for _ in range(64):
            try:
                datagram, about, _, _ = self._socket.recvmsg(65536, 64)
            except BlockingIOError:
                return
            packet = packets.decode(datagram, elements.BYTES)
            if packet is not None and self._is_ours(packet):
                if any(kind == socket.IP_TOS and data[0] & _CE == _CE for _, kind, data in about):
                    packet.flags |= packets.CONGESTED
                self._take(packet)

    def _is_ours(self, packet: packets.Packet) -> bool:
        return (packet.job == self._job.id and packet.kind != packets.RESTORATION
                and packet.destination == self._job.peers[self._job.rank][0])

    def _take(self, packet: packets.Packet) -> None:
        if (packet.sequence - self._next_first) % packets.SEQUENCES < packets.SEQUENCES // 2:
            return self._keep(packet)
        now = time.monotonic()
        for part in (self._current, self._past):
            if part is not None and part.blocks.block_of(packet.sequence) < part.blocks.count:
                part.take(packet, now)
                self.switches_seen |= part.leader.switches_seen > 0
        if self._current is not None and self._current.progress.all_have_contributed_below:
            self._past = None

    def _keep(self, packet: packets.Packet) -> None:
        """A contribution to the next call, of whoever has the key."""
        key = tags.key_of_call(self._job.key, self._next_call)
        ours = packet.kind == packets.CONTRIBUTION and (
            packet.rank == packets.NO_RANK
            or packet.fingerprint == tags.of(key, packet.id, packet.rank))
        if ours and len(self._early) < (self._job.window + 1) * (self._job.hosts - 1):
            self._early.append(packet)

    def _send(self, packet: packets.Packet, address: int, port: int) -> None:
        try:
            self._socket.sendto(packet.encode(), (packets.text_of(address), port))
        except BlockingIOError:
            pass  # as if it was lost on the way
