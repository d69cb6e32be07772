# SPDX-License-Identifier: BSD-3-Clause
"""Computes what each of several jobs did while all of them ran. Spans are the times at which a job's iterations
began and ended."""

from lablib import LabError

Spans = list[tuple[float, float]]


class Missed(LabError):
    """One job had ended when another one began. It would have needed `factor` times its iterations."""

    def __init__(self, factor: float):
        super().__init__("the jobs did not run at the same time: give more --iterations, or a larger "
                         "--size")
        self.factor = factor


def together(jobs: list[Spans]) -> tuple[float, float]:
    """Returns the time from the start of the last job to the end of the first."""
    begin = max(own[0][0] for own in jobs)
    first = min(jobs, key=lambda own: own[-1][1])
    end = first[-1][1]
    if begin >= end:
        # It gets twice the time that it lacked, as starts vary.
        raise Missed(2 + 2 * (begin - end) / (end - first[0][0]))
    return begin, end


def work_done(own: Spans, begin: float, end: float) -> float:
    """Returns the iterations of a job in that time; an iteration that is partly outside counts in part."""
    return sum(max(0.0, min(end, last) - max(begin, first)) / (last - first)
               for first, last in own)
