# SPDX-License-Identifier: BSD-3-Clause
"""The end of a Reliable Connection into whose memory is written."""

import collections

from roce_packets import ACK, NAK_SEQUENCE, PSNS, Packet


class Responder:
    def __init__(self, psn: int, address: int, rkey: int, memory_bytes: int):
        """`psn`: the first one of the other end."""
        self._expected = psn
        self._address, self._rkey = address, rkey
        self._at = 0
        self._messages = 0
        self._nak_sent = False
        self.memory = bytearray(memory_bytes)
        self.completions: collections.deque[int] = collections.deque()  # immediates

    def take(self, packet: Packet) -> int | None:
        """The syndrome of an answer, if there is to be one."""
        ahead = (packet.psn - self._expected) % PSNS
        if ahead == 0:
            self._write(packet)
        elif ahead < PSNS // 2:
            if self._nak_sent:
                return None
            self._nak_sent = True
            return NAK_SEQUENCE
        return ACK if packet.asks else None

    def _write(self, packet: Packet) -> None:
        self._expected = (self._expected + 1) % PSNS
        self._nak_sent = False
        if packet.reth is not None:
            address, rkey, length = packet.reth
            self._at = address - self._address
            if rkey != self._rkey or self._at < 0 or self._at + length > len(self.memory):
                raise ValueError("the rank before writes where it may not")
        self.memory[self._at:self._at + len(packet.payload)] = packet.payload
        self._at += len(packet.payload)
        if packet.word is not None:
            self._messages += 1
            self.completions.append(packet.word)

    def answer(self, syndrome: int) -> tuple[int, int]:
        """Sequence number and last word of an answer."""
        psn = self._expected - (syndrome == ACK)
        return psn % PSNS, syndrome << 24 | self._messages % PSNS
