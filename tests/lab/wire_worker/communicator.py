# SPDX-License-Identifier: BSD-3-Clause
"""A rank of a job, from start to end."""

import contextlib
import socket
import time

import elements
import rendezvous
import ring
from calls import Call, Late

_PROBE_SHARE = 2
_PROBES_MAX = 3
_LATE_S = 1.25


class Communicator:
    def __init__(self, place: tuple[str, int], rank: int, world: int, address: str, protocol,
                 mtu: int = 1500, job: int = 0, secret: str = "", deadline_s: float = 30.0):
        """`protocol`: Canary or another of this shape."""
        self._deadline_s, self._protocol = deadline_s, protocol
        deadline = time.monotonic() + deadline_s
        with ring.listen(address) as listener:
            hello = rendezvous.Hello(
                rank, world, address, listener.getsockname()[1],
                protocol.payload_bytes(mtu), protocol.window, protocol.NAME, job=job,
                **protocol.hello(world))
            meeting = rendezvous.meet(place, hello, secret, deadline)
            self.job = meeting.job
            protocol.begin(self.job)
            self.ring = ring.join(self.job, meeting.ring, listener, deadline, self._wait)
            meeting.conclude()
        self._probe(protocol.probe(), deadline)
        if sparse := getattr(protocol, "sparse_probe", list)():
            self._probe(sparse, deadline)

    def _wait(self, readable: socket.socket) -> None:
        """Others are answered meanwhile."""
        while not self._protocol.tend(None, readable):
            pass

    def _probe(self, calls: list, deadline: float) -> None:
        for _ in range(_PROBES_MAX):
            failed_for, missed_by = self._probe_once(calls, deadline)
            if not missed_by:
                break
        if failed_for:
            raise RuntimeError(f"the probe failed for {failed_for} ranks")

    def _probe_once(self, calls: list, deadline: float) -> tuple[int, int]:
        """How many ranks it failed for, and of them, those that gave up before others had begun."""
        self.ring.barrier()
        now = time.monotonic()
        until = now + (deadline - now) / _PROBE_SHARE
        try:
            for call in calls:
                self._protocol.call(call, until)
            failed = False
        except Late:
            failed = True
        ended = time.monotonic()
        failed_for, _ = self._sums(failed, self._protocol.switches_seen)
        if not failed_for:
            return 0, 0
        missed = failed and time.monotonic() - ended > _LATE_S
        return failed_for, self._sums(missed, False)[0]

    def _sums(self, *told: bool) -> list[int]:
        return self.ring.allreduce([int(each) for each in told], elements.I64, elements.SUM)

    def call(self, call: Call) -> bytes:
        return self._protocol.call(call, time.monotonic() + self._deadline_s)

    def missing(self) -> list:
        """Bytes of the last result that lack ranks, and whom."""
        return getattr(self._protocol, "missing", [])

    def finalize(self) -> None:
        with contextlib.suppress(ConnectionError, EOFError):  # who has waited for long enough is gone
            self.ring.final_barrier()
