# SPDX-License-Identifier: BSD-3-Clause
"""Communication hooks of DistributedDataParallel, without PyTorch; tributary.torch has them for its groups."""

import itertools
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NamedTuple

from ._core import Sketch

_PATIENCE_S = 2  # at the end of a script
_GOLDEN = 0x9e3779b97f4a7c15  # keeps the seeds of a hook far from those that somebody gives to another one


def _end_with_the_script(communicator, pending: set) -> None:
    """A script that ends does not wait for sums to which other ranks do not come: its threads wait for them."""
    process, known = os.getpid(), weakref.ref(communicator)

    def give_up() -> None:
        if os.getpid() == process and wait(list(pending), timeout=_PATIENCE_S).not_done:
            if (communicator := known()) is not None:
                communicator.abort()

    # Functions of atexit run when the threads have ended; this one runs before they are waited for.
    threading._register_atexit(give_up)


class _Part(NamedTuple):
    """What of a bucket goes by a sketch: the first element, and the elements of its layers or the shape of a matrix."""

    first: int
    layers: list[int]
    matrix: tuple[int, int] | None = None

    @property
    def elements(self) -> slice:
        return slice(self.first, self.first + sum(self.layers))


def _parts(bucket, low_rank: int) -> list[_Part]:
    """Matrices that are twice as great as their factors go by themselves, and what lies between them together."""
    parts = []
    first = 0
    for gradient in bucket.gradients():
        count = gradient.numel()
        rows = gradient.shape[0] if len(gradient.shape) > 1 and count else count
        columns = count // rows if rows else 1
        if low_rank and min(rows, columns) > low_rank and 2 * low_rank * (rows + columns) <= count:
            parts.append(_Part(first, [count], (rows, columns)))
        elif parts and parts[-1].matrix is None:
            parts[-1].layers.append(count)
        else:
            parts.append(_Part(first, [count]))
        first += count
    return parts


def _parts_with_tables(bucket) -> list[_Part]:
    """Each has a table of values, as long as many a vector: weights go by themselves, the rest together."""
    parts = []
    first = 0
    joins = False
    for gradient in bucket.gradients():
        count = gradient.numel()
        is_vector = len(gradient.shape) < 2
        if is_vector and joins:
            parts[-1].layers[0] += count
        else:
            parts.append(_Part(first, [count]))
        joins = is_vector
        first += count
    return parts


def sketch_hook(communicator, future, *, bits: int = 8, feedback: bool = True, low_rank: int = 0,
                kind: str = "grid", rounding: str | None = None, seed: int = 0):
    """A hook that averages gradients over the ranks of a communicator, each rounded to so many bits on its way.

    `future` makes one: torch.futures.Future. With `low_rank`, layers of weights go as factors of that rank. `kind`,
    `rounding` and `seed` are for tributary.Sketch. On a grid layers share no unit, whichever DDP puts into one bucket.
    What was rounded off of a bucket comes with its next gradients, as long as it has the same parameters: DDP makes its
    buckets anew after the first step. With that feedback elements are rounded to nearest unless `rounding` says
    otherwise: their mean is right all the same, and an optimizer that divides by the root of squares, as Adam does,
    is not slowed down by noise.
    """
    if low_rank and kind != "grid":
        raise ValueError("with low_rank there is no choice of a kind: factors go on a grid")
    if bits > 16 and not low_rank:
        raise ValueError(f"bits={bits}: give 2, 4, 8 or 16; only factors of low_rank have more")
    rounding = rounding or ("nearest" if feedback else "stochastic")
    numbers = itertools.count()
    kept = {}  # by the bucket's index: its parameters, and its parts with their sketches
    # Of DDP's hooks none may wait, and futures end by whoever does.
    waiter = ThreadPoolExecutor(1, "tributary-sketches")
    pending = set()
    _end_with_the_script(communicator, pending)

    # The same places of two buckets do not draw the same numbers.
    def sketch_of(part: _Part) -> Sketch:
        options = {"rounding": rounding, "feedback": feedback, "seed": (seed + next(numbers) * _GOLDEN) % 2**64}
        if part.matrix:
            return Sketch.low_rank(*part.matrix, low_rank, bits=bits, **options)
        if kind == "grid":
            return Sketch.of_layers(part.layers, bits=min(bits, 16), **options)
        return Sketch(sum(part.layers), kind=kind, bits=bits, **options)

    def sketches_of(bucket) -> list[tuple[slice, Sketch]]:
        parameters = [parameter.data_ptr() for parameter in bucket.parameters()]
        known = kept.get(bucket.index())
        if known is None or known[0] != parameters:
            parts = _parts_with_tables(bucket) if kind == "quantiles" else _parts(bucket, low_rank)
            known = parameters, [(part.elements, sketch_of(part)) for part in parts]
            kept[bucket.index()] = known
        return known[1]

    def outcome_of(request) -> Exception | None:
        try:
            request.wait()
        except Exception as error:
            return error
        return None

    size = communicator.size

    # Until all have ended, they write to the bucket.
    def finish(requests, gradients, averaged) -> None:
        errors = list(filter(None, map(outcome_of, requests)))
        if errors:
            averaged.set_exception(errors[0])  # DDP raises it
        else:
            averaged.set_result(gradients.div_(size))

    # DDP looks for the second parameter by its name, and at the name of the hook.
    def sketched(_state, bucket):
        gradients = bucket.buffer()
        vector = gradients.numpy()  # the same memory
        requests = [communicator.isketched_allreduce(vector[elements], sketch)
                    for elements, sketch in sketches_of(bucket)]
        averaged = future()
        finishing = waiter.submit(finish, requests, gradients, averaged)
        pending.add(finishing)
        finishing.add_done_callback(pending.discard)
        return averaged

    return sketched
