# SPDX-License-Identifier: BSD-3-Clause
"""How long to wait for an answer: RFC 6298."""

import random

_LEAST_S, _MOST_S, _UNKNOWN_S, _GRANULARITY_S = 0.005, 0.5, 0.1, 0.001


class RoundTrips:
    def __init__(self) -> None:
        self._smoothed: float | None = None
        self._variation = 0.0

    def measured(self, seconds: float) -> None:
        if self._smoothed is None:
            self._smoothed, self._variation = seconds, seconds / 2
            return
        self._variation += (abs(self._smoothed - seconds) - self._variation) / 4
        self._smoothed += (seconds - self._smoothed) / 8

    def timeout(self, asked: int) -> float:
        """Until the next request, after so many."""
        plain = _UNKNOWN_S
        if self._smoothed is not None:
            plain = self._smoothed + max(4 * self._variation, _GRANULARITY_S)
        backed_off = min(max(plain, _LEAST_S) * 2 ** min(asked, 10), _MOST_S)
        return backed_off * (random.uniform(0.75, 1) if asked else 1)

    def quiet(self) -> float:
        """After which what has not come is taken for lost."""
        smoothed = _UNKNOWN_S if self._smoothed is None else self._smoothed
        return min(max(smoothed / 4, 0.0005), 0.05)
