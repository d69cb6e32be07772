# SPDX-License-Identifier: BSD-3-Clause
"""Of jobs that run at the same time: what each did while all ran. Spans are when a job's iterations
began and ended."""

from lablib import LabError

Spans = list[tuple[float, float]]


class Missed(LabError):
    """One had ended when another one began."""


def together(jobs: list[Spans]) -> tuple[float, float]:
    """From when the last one began to when the first one ended."""
    begin, end = max(own[0][0] for own in jobs), min(own[-1][1] for own in jobs)
    if begin >= end:
        raise Missed("the jobs did not run at the same time: give more --iterations, or a larger "
                     "--size")
    return begin, end


def work_done(own: Spans, begin: float, end: float) -> float:
    """Iterations of a job in that time, with the parts of those that reach out of it."""
    return sum(max(0.0, min(end, last) - max(begin, first)) / (last - first)
               for first, last in own)
