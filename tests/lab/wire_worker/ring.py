# SPDX-License-Identifier: BSD-3-Clause
"""The ring of the hosts, over TCP."""

import select
import socket
import struct
import time

import elements
import tags
from calls import Job
from packets import text_of
from rendezvous import read

_RING, _DOUBLING = 0x54525247, 0x54525244  # of greetings
_GREETING = struct.Struct(">III8s")
_GREETING_PURPOSE = 3
_ANNOUNCEMENT = struct.Struct(">IBBBBQI")
assert _ANNOUNCEMENT.size == 20
_ALLREDUCE, _BARRIER, _FINAL_BARRIER = 1, 2, 6
_BYTES_MAX = 32768  # of vectors that are added by recursive doubling
_RETRY_S = 0.02
_GIVE, _ADD, _EXCHANGE, _TAKE = range(4)


def _steps(rank: int, ranks: int) -> list[tuple[int, int]]:
    """Of recursive doubling: what is done, and with whom."""
    size = 1 << (ranks.bit_length() - 1)
    pairs = ranks - size
    if rank < 2 * pairs and rank % 2 == 0:
        return [(_GIVE, rank + 1), (_TAKE, rank + 1)]
    place = rank // 2 if rank < 2 * pairs else rank - pairs
    steps = []
    for k in range(size.bit_length() - 1):
        other = place ^ (1 << k)
        steps.append((_EXCHANGE, 2 * other + 1 if other < pairs else other + pairs))
    return [(_ADD, rank - 1), *steps, (_GIVE, rank - 1)] if rank < 2 * pairs else steps


class Ring:
    """Collectives of short vectors. The connections to the neighbours in the ring are for long ones."""

    def __init__(self, job: Job, neighbours: list[socket.socket], partners: dict[int, socket.socket],
                 wait):
        """`wait(socket)` returns when it can be read, and does what else is due meanwhile."""
        self._job, self._neighbours, self._partners, self._wait = job, neighbours, partners, wait
        self._collectives = 0

    def barrier(self) -> None:
        self._add(_BARRIER, [], 0, elements.SUM)

    def final_barrier(self) -> None:
        self._add(_FINAL_BARRIER, [], 0, elements.SUM)

    def allreduce(self, values: list, element_type: int, op: int) -> list:
        assert len(values) * elements.BYTES[element_type] <= _BYTES_MAX
        return self._add(_ALLREDUCE, values, element_type, op)

    def _add(self, collective: int, values: list, element_type: int, op: int) -> list:
        announcement = _ANNOUNCEMENT.pack(self._collectives, collective, element_type, op, 0,
                                          len(values), 0)
        self._collectives += 1
        for kind, peer in _steps(self._job.rank, self._job.hosts):
            connection = self._partners[peer]
            if kind in (_GIVE, _EXCHANGE):
                connection.sendall(announcement + elements.store(element_type, values))
            if kind == _GIVE:
                continue
            theirs = self._receive(connection, announcement, len(values), element_type)
            if kind == _TAKE:
                values = theirs
            else:
                first, second = (values, theirs) if self._job.rank < peer else (theirs, values)
                values = elements.combine(element_type, op, first, second)
        return values

    def _receive(self, connection: socket.socket, announcement: bytes, count: int,
                 element_type: int) -> list:
        came = self._read(connection, len(announcement))
        if came != announcement:
            raise ValueError(f"another rank calls {came.hex()}, this one {announcement.hex()}")
        return elements.load(element_type,
                             self._read(connection, count * elements.BYTES[element_type]))

    def _read(self, connection: socket.socket, count: int) -> bytes:
        data = b""
        while len(data) < count:
            self._wait(connection)
            data += read(connection, count - len(data))
        return data

    def announced_allreduce(self) -> tuple[int, int] | None:
        """Elements and operator of what another rank calls next, if that is an allreduce; this one may do as it
        does."""
        with select.epoll() as any_of_them:
            for connection in self._partners.values():
                any_of_them.register(connection, select.EPOLLIN)
            self._wait(any_of_them)
            descriptor, _ = any_of_them.poll()[0]
        connection = next(one for one in self._partners.values() if one.fileno() == descriptor)
        came = connection.recv(_ANNOUNCEMENT.size, socket.MSG_PEEK | socket.MSG_WAITALL)
        _, collective, _, op, _, count, _ = _ANNOUNCEMENT.unpack(came)
        return (count, op) if collective == _ALLREDUCE else None


def listen(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((address, 0))
    listener.listen()
    return listener


def join(job: Job, places: list[tuple[int, int]], listener: socket.socket, deadline: float,
         wait) -> Ring:
    """Ranks connect to the next one in the ring, and to those of recursive doubling behind them."""
    def connect(magic: int, rank: int) -> socket.socket:
        address, port = places[rank]
        connection = _connect((text_of(address), port), deadline)
        connection.sendall(_greeting(job, magic, job.rank))
        return connection

    before, behind = (job.rank - 1) % job.hosts, (job.rank + 1) % job.hosts
    peers = {peer for _, peer in _steps(job.rank, job.hosts)}
    neighbours = [connect(_RING, behind)]
    partners = {peer: connect(_DOUBLING, peer) for peer in peers if peer > job.rank}
    awaited = {_greeting(job, _DOUBLING, peer): peer for peer in peers if peer < job.rank}
    awaited[_greeting(job, _RING, before)] = None
    while awaited:
        if time.monotonic() > deadline:
            raise TimeoutError("a rank did not connect")
        wait(listener)
        connection, _ = listener.accept()
        greeting = read(connection, _GREETING.size)
        if greeting not in awaited:
            connection.close()
        elif (peer := awaited.pop(greeting)) is None:
            neighbours.append(connection)
        else:
            partners[peer] = connection
    return Ring(job, neighbours, partners, wait)


def _greeting(job: Job, magic: int, rank: int) -> bytes:
    proof = tags.siphash(job.key, struct.pack(">III", _GREETING_PURPOSE, job.id, rank))
    return _GREETING.pack(magic, job.id, rank, proof.to_bytes(8, "little"))


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
