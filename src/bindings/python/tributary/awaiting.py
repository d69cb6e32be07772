# SPDX-License-Identifier: BSD-3-Clause
"""Requests in asyncio: a loop is told when they have ended, and no thread waits for them."""

import asyncio
import itertools
import weakref

from ._core import Request, _Endings


class _Awaited:
    """What is awaited in one loop."""

    def __init__(self) -> None:
        self._endings = _Endings()
        self._futures: dict[int, asyncio.Future] = {}
        self._numbers = itertools.count()

    async def until_ended(self, request: Request, loop: asyncio.AbstractEventLoop) -> None:
        if not self._futures:
            loop.add_reader(self._endings.fileno(), self._tell)
        number = next(self._numbers)
        future = self._futures[number] = loop.create_future()
        request._tell(self._endings, number)
        # Whoever looks has a deadline take effect that passes before the collective's turn.
        left = request._seconds_left()
        look = None if left is None else loop.call_later(left, request._has_ended)
        try:
            await future
        finally:
            if look is not None:
                look.cancel()
            del self._futures[number]
            if not self._futures and not loop.is_closed():
                loop.remove_reader(self._endings.fileno())

    def _tell(self) -> None:
        for number in self._endings.take():
            future = self._futures.get(number)
            if future is not None and not future.done():
                future.set_result(None)


_loops: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Awaited]" = weakref.WeakKeyDictionary()


async def outcome(request: Request):
    """What wait() returns, or raises, when it has ended."""
    loop = asyncio.get_running_loop()
    if not request._has_ended():
        if loop not in _loops:
            _loops[loop] = _Awaited()
        await _loops[loop].until_ended(request, loop)
    return request.wait()
