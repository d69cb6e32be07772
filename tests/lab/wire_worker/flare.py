# SPDX-License-Identifier: BSD-3-Clause
"""One rank's collectives by Flare, dense and sparse."""

import select
import socket
import time
import zlib

import elements
import flare_packets
import flare_sparse
import tags
from calls import ALLREDUCE, Call, Job, Late
from flare_dense import DensePart, blocks_of
from flare_packets import ANSWER, INQUIRY, PORT, SPARSE, VERSION, Packet, SparsePacket
from flare_sparse import Opened, SparseCall, SparsePart
from panama_socket import Groups
from round_trips import RoundTrips

_TICK_S = 0.002
_TRAFFIC_CLASS = 0
_PROBE_BLOCKS = 64


class _Kept:
    """Packets of the results of the latest blocks, for switches that ask."""

    def __init__(self, window: int):
        self._window = window
        self._results: dict[int, list] = {}  # by block

    def add(self, block: int, packets: list) -> None:
        self._results[block] = packets
        latest = max(self._results)
        for old in [other for other in self._results if other <= latest - self._window]:
            del self._results[old]

    def answer(self, block: int):
        for packet in self._results.get(block, []):
            packet.flags = packet.flags & SPARSE | VERSION | ANSWER
            yield packet


class Flare:
    NAME = "flare"
    _HEADERS_BYTES = 20 + 8 + 44  # IPv4, UDP, Flare
    switches_seen = True  # nobody else makes results

    def __init__(self, address: str, group: str, window: int, sparse_window: int):
        self._settings = zlib.crc32(group.encode()), window, sparse_window
        self._groups = Groups(address, [group], PORT, _TRAFFIC_CLASS)
        self.window, self._sparse_window = window, sparse_window
        self._round_trips = RoundTrips()
        self._calls = self._sparse_calls = self._answers = 0
        self._next_block = self._next_sparse_block = 0
        self._part: DensePart | None = None
        self._sparse_part: SparsePart | None = None
        self._kept, self._kept_sparse = _Kept(window), _Kept(sparse_window)

    def payload_bytes(self, mtu: int) -> int:
        return (mtu - self._HEADERS_BYTES) // 32 * 32

    def hello(self, world: int) -> dict:
        return {"settings": self._settings}

    def begin(self, job: Job) -> None:
        self._job = job
        self._run = tags.run_of(job.key)

    def probe(self) -> list[Call]:
        return [Call(ALLREDUCE, bytes(_PROBE_BLOCKS * self._job.payload_bytes), elements.I8)]

    def sparse_probe(self) -> list[SparseCall]:
        return [flare_sparse.probe(self._job)] if self._sparse_window else []

    def call(self, call: Call | SparseCall, deadline: float) -> bytes:
        """The result; raises Late."""
        if not isinstance(call, SparseCall):
            key = tags.key_of_call(self._job.key, self._calls)
            return self._dense_call(call, key, deadline)
        if call.count == 0:
            return b""
        key = flare_sparse.opening_key(tags.key_of_call(self._job.key, self._calls))
        opening = flare_sparse.opening_of(call, self._next_sparse_block)
        opened = Opened.of(self._dense_call(opening, key, deadline))
        part = self._sparse_part = SparsePart(self._job, self._run, self._sparse_window, call, key,
                                              opened, self._round_trips)
        self._next_sparse_block = part.end
        self._sparse_calls += 1
        return self._finish(part, deadline)

    def _dense_call(self, call: Call, key: bytes, deadline: float) -> bytes:
        blocks = blocks_of(self._job, call)
        if blocks == 0:
            return b""
        part = self._part = DensePart(self._job, self._run, call, key, self._next_block,
                                      self._round_trips)
        self._calls += 1
        self._next_block += blocks
        return self._finish(part, deadline)

    def _finish(self, part: DensePart | SparsePart, deadline: float) -> bytes:
        while not part.finished():
            self.tend(_TICK_S)
            if time.monotonic() > deadline:
                raise Late(f"call {self._calls - 1} is not over")
        return bytes(part.result)

    def tend(self, wait_s: float | None, other: socket.socket | None = None) -> bool:
        """Sends what is due and takes what came; returns, then or after a while, whether `other` can
        be read."""
        for part in filter(None, (self._part, self._sparse_part)):
            self._send(part.to_send(time.monotonic()))
        watched = [self._groups.socket] if other is None else [self._groups.socket, other]
        ready, _, _ = select.select(watched, [], [], wait_s)
        if self._groups.socket in ready:
            self._receive()
        return other in ready

    def summary(self) -> str:
        """What a test may want to know."""
        return (f"calls: {self._calls}, sparse calls: {self._sparse_calls}, "
                f"answers to inquiries: {self._answers}")

    def _send(self, packets) -> int:
        count = 0
        for packet in packets:
            self._groups.send(0, packet.encode())
            count += 1
        return count

    def _receive(self) -> None:
        while came := self._groups.receive():
            packet = flare_packets.decode(came[0])
            if packet is None or (packet.job, packet.run) != (self._job.id, self._run):
                continue
            if isinstance(packet, SparsePacket):
                self._take_sparse(packet)
            else:
                self._take(packet)

    def _take(self, packet: Packet) -> None:
        part = self._part
        if packet.kind == INQUIRY:
            self._answer(packet.block, self._kept, part)
        elif part and part.take(packet, time.monotonic()):
            self._kept.add(packet.block, [packet])

    def _take_sparse(self, packet: SparsePacket) -> None:
        part = self._sparse_part
        if packet.kind == INQUIRY:
            self._answer(packet.block, self._kept_sparse, part)
        elif part and (shards := part.take(packet, time.monotonic())):
            self._kept_sparse.add(packet.block, shards)

    def _answer(self, block: int, kept: _Kept, part) -> None:
        sent = self._send(kept.answer(block))
        if not sent and part:
            sent = self._send(part.answer(block))
        self._answers += sent
