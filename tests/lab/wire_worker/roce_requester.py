# SPDX-License-Identifier: BSD-3-Clause
"""The end of a Reliable Connection that writes."""

import collections

from roce_packets import (NAK_SEQUENCE, PSNS, WRITE_FIRST, WRITE_LAST_IMMEDIATE, WRITE_MIDDLE,
                          WRITE_ONLY_IMMEDIATE, Packet)
from round_trips import RoundTrips

_AHEAD = 32  # packets that are not acknowledged
_ASK_EVERY = 8


class Requester:
    def __init__(self, psn: int, queue_pair: int):
        """`queue_pair`: the other end's. Sequence numbers in here do not wrap."""
        self._lowest = self._next = self._end = psn  # not acknowledged; to be sent; to be written
        self._queue_pair = queue_pair
        self._packets: collections.deque[Packet] = collections.deque()  # from the lowest
        self._ends: collections.deque[int] = collections.deque()  # of messages
        self._round_trips = RoundTrips()
        self._sent_first: dict[int, float | None] = {}
        self._ask_at, self._asked = 0.0, 0
        self.acknowledged = 0  # messages
        self.repeated = 0  # packets

    def write(self, address: int, rkey: int, immediate: int, payloads: list[bytes]) -> None:
        reth = address, rkey, sum(map(len, payloads))
        last = len(payloads) - 1
        for number, payload in enumerate(payloads):
            if number == 0:
                opcode = WRITE_FIRST if last else WRITE_ONLY_IMMEDIATE
            else:
                opcode = WRITE_MIDDLE if number < last else WRITE_LAST_IMMEDIATE
            self._packets.append(Packet(
                opcode, self._queue_pair, self._end,
                asks=number == last or self._end % _ASK_EVERY == 0,
                reth=None if number else reth, word=immediate if number == last else None,
                payload=payload))
            self._end += 1
        self._ends.append(self._end)

    def to_send(self, now: float):
        if self._lowest < self._next and now >= self._ask_at:
            self._asked += 1
            self._go_back(now)
        while self._next < min(self._end, self._lowest + _AHEAD):
            if self._next == self._lowest:
                self._wait(now)
            self._sent_first.setdefault(self._next, now)
            self._next += 1
            yield self._packets[self._next - 1 - self._lowest]

    def _go_back(self, now: float) -> None:
        self.repeated += self._next - self._lowest
        self._sent_first = dict.fromkeys(self._sent_first)  # when, tells nothing any more
        self._next = self._lowest
        self._wait(now)

    def _wait(self, now: float) -> None:
        self._ask_at = now + self._round_trips.timeout(self._asked)

    def take(self, answer: Packet, now: float) -> None:
        is_nak = answer.word >> 24 == NAK_SEQUENCE
        behind = self._lowest + (answer.psn + (not is_nak) - self._lowest) % PSNS
        if behind not in range(self._lowest, self._lowest + len(self._sent_first) + 1):
            return  # of the past
        if behind > self._lowest:
            self._advance(behind, now)
        if is_nak:
            self._go_back(now)

    def _advance(self, behind: int, now: float) -> None:
        sent_at = self._sent_first[behind - 1]
        if sent_at is not None:
            self._round_trips.measured(now - sent_at)
        for psn in range(self._lowest, behind):
            self._packets.popleft()
            del self._sent_first[psn]
        self._lowest, self._next = behind, max(self._next, behind)
        while self._ends and self._ends[0] <= behind:
            self._ends.popleft()
            self.acknowledged += 1
        self._asked = 0
        self._wait(now)
