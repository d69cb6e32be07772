# SPDX-License-Identifier: BSD-3-Clause
"""A rank of a job, from start to end."""

import socket
import time

import elements
import rendezvous
import ring
from calls import ALLREDUCE, Call
from canary import Canary, Late, open_socket

_HEADERS_BYTES = 20 + 8 + 64  # IPv4, UDP, Canary
_WINDOW = 64
_PROBE_BLOCKS = 64
_PROBE_S = 5.0
_FAREWELL_S = 2.0


class Communicator:
    def __init__(self, place: tuple[str, int], rank: int, world: int, address: str, mtu: int = 1500,
                 algorithm: int = rendezvous.CANARY, secret: str = "", deadline_s: float = 30.0):
        self._deadline_s = deadline_s
        deadline = time.monotonic() + deadline_s
        udp = open_socket(address)
        with ring.listen(address) as listener:
            hello = rendezvous.Hello(
                rank, world, address, udp.getsockname()[1], listener.getsockname()[1],
                (mtu - _HEADERS_BYTES) // 32 * 32, _WINDOW, algorithm)
            meeting = rendezvous.meet(place, hello, secret, deadline)
            self.job = meeting.job
            self._canary = Canary(self.job, udp)
            self.ring = ring.join(self.job, meeting.ring, listener, deadline, self._wait)
            meeting.conclude()
        if algorithm != rendezvous.RING:
            self._probe(algorithm, deadline)

    def _wait(self, readable: socket.socket) -> None:
        """Others are answered meanwhile."""
        while not self._canary.tend(None, readable):
            pass

    def _probe(self, algorithm: int, deadline: float) -> None:
        self.ring.barrier()
        vector = bytes(min(self.job.hosts, _PROBE_BLOCKS) * self.job.payload_bytes)
        until = time.monotonic() + min(_PROBE_S, (deadline - time.monotonic()) / 2)
        try:
            self._canary.call(Call(ALLREDUCE, vector, elements.I8), until)
            failed = False
        except Late:
            failed = True
        seen = self._canary.switches_seen
        failed_for, seen_by = self.ring.allreduce([int(failed), int(seen)], elements.I64,
                                                  elements.SUM)
        self.switches_reduce = seen_by > 0
        if failed_for or not seen_by and algorithm == rendezvous.AUTOMATIC:
            raise RuntimeError("all would go by the ring, which is no protocol of switches")

    def call(self, call: Call) -> bytes:
        return self._canary.call(call, time.monotonic() + self._deadline_s)

    def farewell(self) -> None:
        self.ring.barrier()
