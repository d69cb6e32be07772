# SPDX-License-Identifier: BSD-3-Clause
"""Computes what each of several jobs did while all of them ran. Spans are the times at which a job's iterations
began and ended."""

from lablib import LabError

Spans = list[tuple[float, float]]


class Missed(LabError):
    """One job had ended when another one began."""


def together(jobs: list[Spans]) -> tuple[float, float]:
    """Returns the time from the start of the last job to the end of the first."""
    begin, end = max(own[0][0] for own in jobs), min(own[-1][1] for own in jobs)
    if begin >= end:
        raise Missed("the jobs did not run at the same time: give more --iterations, or a larger "
                     "--size")
    return begin, end


def work_done(own: Spans, begin: float, end: float) -> float:
    """Returns the iterations of a job in that time; an iteration that is partly outside counts in part."""
    return sum(max(0.0, min(end, last) - max(begin, first)) / (last - first)
               for first, last in own)
