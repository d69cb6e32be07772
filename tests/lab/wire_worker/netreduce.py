# SPDX-License-Identifier: BSD-3-Clause
"""One rank's collectives by NetReduce, over Reliable Connections made here."""

import dataclasses
import random
import select
import socket
import struct
import time

import elements
import roce_packets
from calls import ALLREDUCE, BARRIER, Call, Job, Late
from netreduce_messages import Messages, RingSettings
from packets import text_of
from roce_packets import ACKNOWLEDGE, PORT, PSNS, Packet
from roce_requester import Requester
from roce_responder import Responder

_CONNECTIONS = struct.Struct(">IIIIQB3x")
assert _CONNECTIONS.size == 28
_IN_SOFTWARE = 0
_SO_NO_CHECK = 11
_IP_MTU_DISCOVER, _IP_PMTUDISC_DO = 10, 2  # "do not fragment"; the identification is 0 then
_ICRC_BYTES = 4
_TICK_S = 0.002


def _open_socket(address: str) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_DO)
    opened.setsockopt(socket.SOL_SOCKET, _SO_NO_CHECK, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    opened.setblocking(False)
    opened.bind((address, PORT))
    return opened


class NetReduce:
    NAME = "netreduce"
    switches_seen = True  # nobody else makes sums

    def __init__(self, address: str, settings: RingSettings):
        self._settings, self._place = settings, (address, PORT)
        self._socket = _open_socket(address)
        self._to_next, self._from_before = random.sample(range(2, PSNS), 2)  # queue pairs
        self._first_psn = random.randrange(PSNS)
        self._rkey, self._memory = random.getrandbits(32), random.getrandbits(47)
        self._next_call = self._next_message = self._sums = 0

    def payload_bytes(self, _mtu: int) -> int:
        return self._settings.mtu

    @property
    def window(self) -> int:
        return self._settings.window

    def hello(self, _world: int) -> dict:
        settings = self._settings
        connections = _CONNECTIONS.pack(self._to_next, self._from_before, self._first_psn,
                                        self._rkey, self._memory, _IN_SOFTWARE)
        return {"settings": (settings.ring, settings.window, settings.message_packets,
                             settings.mtu),
                "end": connections}

    def begin(self, job: Job) -> None:
        self._job = job
        self._settings = dataclasses.replace(self._settings, mtu=job.payload_bytes)
        ranks = (job.rank + 1) % job.hosts, (job.rank - 1) % job.hosts
        self._next, self._before = ((text_of(job.peers[rank][0]), PORT) for rank in ranks)
        ours, theirs = (_CONNECTIONS.unpack(job.ends[rank]) for rank in ranks)
        _, queue_pair, _, self._next_rkey, self._next_memory, _ = ours
        self._requester = Requester(self._first_psn, queue_pair)
        self._answered, _, psn, _, _, _ = theirs
        self._responder = Responder(psn, self._memory, self._rkey,
                                    2 * self._settings.window * self._settings.slot_bytes)

    def probe(self) -> list[Call]:
        return [Call(BARRIER, b"", elements.I8),
                Call(ALLREDUCE, bytes(self._settings.element_bytes(1)), elements.I8)]

    def summary(self) -> str:
        """What a test may want to know."""
        return f"calls: {self._next_call}, packets sent again: {self._requester.repeated}"

    def call(self, call: Call, deadline: float) -> bytes:
        """The result; raises Late."""
        first = self._sums
        messages = Messages(self._job, self._settings, call, self._next_call, first)
        if messages.count == 0:
            return b""
        self._next_call += 1
        result = bytearray(call.vector)
        while self._sums < first + messages.count:
            while self._next_message < first + messages.count and self._may_send():
                self._write(messages.payloads(self._next_message - first))
            self.tend(_TICK_S)
            while self._responder.completions:
                self._take_sum(messages, first, result)
            if time.monotonic() > deadline:
                raise Late(f"message {self._sums} has no sum")
        return bytes(result)

    def _may_send(self) -> bool:
        window = self._settings.window
        return (self._next_message < self._sums + window
                and self._next_message < self._requester.acknowledged + 2 * window)

    def _slot(self, message: int) -> int:
        return message % (2 * self._settings.window) * self._settings.slot_bytes

    def _write(self, payloads: list[bytes]) -> None:
        message = self._next_message
        self._requester.write(self._next_memory + self._slot(message), self._next_rkey, message,
                              payloads)
        self._next_message += 1

    def _take_sum(self, messages: Messages, first: int, result: bytearray) -> None:
        immediate = self._responder.completions.popleft()
        if immediate != self._sums:
            raise ValueError(f"message {immediate} came in the place of {self._sums}")
        at = self._slot(immediate)
        slot = bytes(self._responder.memory[at:at + self._settings.slot_bytes])
        result[messages.place(immediate - first)] = messages.elements_of(immediate - first, slot)
        self._sums += 1

    def tend(self, wait_s: float | None, other: socket.socket | None = None) -> bool:
        """Sends what is due and takes what came; returns, then or after a while, whether `other` can
        be read."""
        for packet in self._requester.to_send(time.monotonic()):
            self._send(packet, self._next)
        watched = [self._socket] if other is None else [self._socket, other]
        wait_s = _TICK_S if wait_s is None else wait_s  # something may have to be sent again
        ready, _, _ = select.select(watched, [], [], wait_s)
        if self._socket in ready:
            self._receive()
        return other in ready

    def _send(self, packet: Packet, place: tuple[str, int]) -> None:
        data = packet.encode()
        try:
            self._socket.sendto(data + roce_packets.icrc(self._place, place, data), place)
        except BlockingIOError:
            pass  # as if it was lost on the way

    def _receive(self) -> None:
        while True:
            try:
                datagram, source = self._socket.recvfrom(65536)
            except BlockingIOError:
                return
            data, icrc = datagram[:-_ICRC_BYTES], datagram[-_ICRC_BYTES:]
            packet = roce_packets.decode(data)
            if packet is not None and icrc == roce_packets.icrc(source, self._place, data):
                self._take(packet)

    def _take(self, packet: Packet) -> None:
        if packet.opcode == ACKNOWLEDGE:
            if packet.queue_pair == self._to_next:
                self._requester.take(packet, time.monotonic())
        elif packet.queue_pair == self._from_before:
            syndrome = self._responder.take(packet)
            if syndrome is not None:
                psn, word = self._responder.answer(syndrome)
                self._send(Packet(ACKNOWLEDGE, self._answered, psn, word=word), self._before)
