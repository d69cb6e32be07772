# SPDX-License-Identifier: BSD-3-Clause
"""The ring of the hosts, over TCP."""

import socket
import struct
import time

import elements
import tags
from calls import Job
from packets import text_of
from rendezvous import read

_MAGIC = 0x54525247
_GREETING = struct.Struct(">III8s")
_GREETING_PURPOSE = 3
_ANNOUNCEMENT = struct.Struct(">IBBBBQI")
assert _ANNOUNCEMENT.size == 20
_ALLREDUCE, _BARRIER = 1, 2
_RETRY_S = 0.02


class Ring:
    def __init__(self, job: Job, next_rank: socket.socket, previous: socket.socket, wait):
        """`wait(socket)` returns when it can be read, and does what else is due meanwhile."""
        self._job, self._next, self._previous, self._wait = job, next_rank, previous, wait
        self._collectives = 0

    def barrier(self) -> None:
        self._collectives += 1
        for round in (1, 2):
            token = _ANNOUNCEMENT.pack(self._collectives, _BARRIER, 0, 0, 0, round, 0)
            if self._job.rank == 0:
                self._next.sendall(token)
            self._expect(token)
            if self._job.rank != 0:
                self._next.sendall(token)

    def _expect(self, announcement: bytes) -> None:
        came = self._read(_ANNOUNCEMENT.size)
        if came != announcement:
            raise ValueError(f"the rank before calls {came.hex()}, this one {announcement.hex()}")

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            self._wait(self._previous)
            data += read(self._previous, min(count - len(data), 1 << 16))
        return data

    def allreduce(self, values: list, element_type: int, op: int) -> list:
        """Small ones: each step is sent as a whole."""
        announcement = _ANNOUNCEMENT.pack(self._collectives, _ALLREDUCE, element_type, op, 0,
                                          len(values), 0)
        self._collectives += 1
        self._next.sendall(announcement)
        self._expect(announcement)
        chunks = self._cut(values)
        ranks = self._job.hosts
        for step in range(2 * ranks - 2):
            mine = (self._job.rank - step) % ranks
            theirs = (self._job.rank - 1 - step) % ranks
            self._next.sendall(elements.store(element_type, chunks[mine]))
            size = len(chunks[theirs]) * elements.BYTES[element_type]
            came = elements.load(element_type, self._read(size))
            if step < ranks - 1:
                came = elements.combine(element_type, op, chunks[theirs], came)
            chunks[theirs] = came
        return [value for chunk in chunks for value in chunk]

    def _cut(self, values: list) -> list[list]:
        share, longer = divmod(len(values), self._job.hosts)
        ends = [0]
        for chunk in range(self._job.hosts):
            ends.append(ends[-1] + share + (chunk < longer))
        return [values[begin:end] for begin, end in zip(ends, ends[1:])]

    def announced_elements(self) -> int:
        """Of the collective that the rank before calls next; this one may do as it does."""
        self._wait(self._previous)
        came = self._previous.recv(_ANNOUNCEMENT.size, socket.MSG_PEEK | socket.MSG_WAITALL)
        return _ANNOUNCEMENT.unpack(came)[5]


def listen(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((address, 0))
    listener.listen()
    return listener


def join(job: Job, places: list[tuple[int, int]], listener: socket.socket, deadline: float,
         wait) -> Ring:
    address, port = places[(job.rank + 1) % job.hosts]
    next_rank = _connect((text_of(address), port), deadline)
    next_rank.sendall(_greeting(job, job.rank))
    expected = _greeting(job, (job.rank - 1) % job.hosts)
    while time.monotonic() < deadline:
        wait(listener)
        connection, _ = listener.accept()
        if read(connection, len(expected)) == expected:
            return Ring(job, next_rank, connection, wait)
        connection.close()
    raise TimeoutError("the rank before did not come")


def _greeting(job: Job, rank: int) -> bytes:
    proof = tags.siphash(job.key, struct.pack(">III", _GREETING_PURPOSE, job.id, rank))
    return _GREETING.pack(_MAGIC, job.id, rank, proof.to_bytes(8, "little"))


def _connect(place: tuple[str, int], deadline: float) -> socket.socket:
    while True:
        try:
            connection = socket.create_connection(place, timeout=deadline - time.monotonic())
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)
