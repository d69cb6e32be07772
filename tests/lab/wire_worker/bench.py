# SPDX-License-Identifier: BSD-3-Clause
"""Plays a rank of tributary-bench: the same calls with the same vectors, each element compared."""

import argparse
import functools
import math
import os
import sys
import time

import elements
from calls import ALLREDUCE, BARRIER, BROADCAST, REDUCE, SPARSE_ALLREDUCE, Call
from canary import Canary
from communicator import Communicator
from flare import Flare
from flare_sparse import SparseCall
from netreduce import NetReduce
from netreduce_messages import RingSettings
from panama import Panama

_MASK = (1 << 64) - 1
_MOST = (1 << 63) - 1
_LATE_S, _LATE_RANKS = 0.02, 8
_DIGITS = {elements.F32: 24, elements.F64: 52, elements.F16: 11, elements.BF16: 8}  # binary


def _bits(rank: int, index: int) -> int:
    """The bench's pseudo-random bits of an element."""
    x = index ^ (rank + 1) * 0x9e3779b97f4a7c15 & _MASK
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & _MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & _MASK
    return x ^ x >> 31


@functools.cache
def _bits_of(rank: int, count: int) -> list[int]:
    """Of all elements of a vector."""
    return [_bits(rank, at) for at in range(count)]


def _signed(column: list[int], size: int) -> list[int]:
    half = 1 << 8 * size - 1
    return [(bits + half) % (2 * half) - half for bits in column]


def _is_rare(bits: int) -> bool:
    return bits >> 61 == 0


_INTEGER_BITS = {  # other operators have all bits
    elements.PROD: lambda bits: bits | 0x11,
    elements.AND: lambda bits: bits | bits >> 17 | bits >> 35,
    elements.OR: lambda bits: bits & bits >> 17 & bits >> 35,
    elements.LAND: lambda bits: 0 if _is_rare(bits) else bits,
    elements.LOR: lambda bits: bits if _is_rare(bits) else 0,
    elements.LXOR: lambda bits: bits if bits >> 63 else 0,
}


def _integers(op: int, column: list[int]) -> list[int]:
    change = _INTEGER_BITS.get(op)
    return [change(bits) for bits in column] if change else column


def _float8(op: int, rank: int, at: int, bits: int, world: int) -> float:
    """Four ranks have what counts, so small that nothing is rounded."""
    counts = (rank - _bits(-1, at) % world) % world < 4
    is_large = bits >> 40 & 1
    if op == elements.PROD:
        return 1.0 if not counts else 2.0 if is_large else 0.5
    if op == elements.SUM:
        return 0.0 if not counts else 2.0 if is_large else 1.0
    return (bits >> 40) * 2.0 ** -24


def _fraction(op: int, bits: int) -> float:
    fraction = (bits >> 40) * 2.0 ** -24
    return _f32(0.75 + _f32(_f32(0.58) * fraction)) if op == elements.PROD else fraction


def _sign(bits: int) -> float:
    return -1.0 if bits & 1 else 1.0


def _vector(element_type: int, op: int, rank: int, count: int, world: int) -> list:
    """What a rank contributes, before it is rounded to the type."""
    column = _bits_of(rank, count)
    if elements.is_integer(element_type):
        return _signed(_integers(op, column), elements.BYTES[element_type])
    if elements.is_pair(element_type):
        return list(zip(((bits >> 60) - 8 for bits in column), _signed(column, 4)))
    if elements.is_float8(element_type):
        return [_sign(bits) * _float8(op, rank, at, bits, world) for at, bits in enumerate(column)]
    return [_sign(bits) * _fraction(op, bits) for bits in column]


def _thinned(vector: list, rank: int, density: float) -> list:
    if density >= 1:
        return vector
    return [value if _is_present(rank, at, density) else 0 for at, value in enumerate(vector)]


def _is_present(rank: int, at: int, density: float) -> bool:
    """In a sparse vector; of 32 bits that count ranks, these are turned over."""
    return (_bits(-rank % (1 << 32) - 1, at) >> 11) * 2.0 ** -53 < density


def _f32(value: float) -> float:
    return elements.load(elements.F32, elements.store(elements.F32, [value]))[0]


def _roll(values: list, by: int) -> list:
    by %= max(len(values), 1)
    return values[by:] + values[:by]


class Sample:
    """What each rank contributes, and what must come out."""

    def __init__(self, element_type: int, op: int, count: int, world: int, density: float = 1.0):
        self._type, self._op = element_type, op
        vectors = (_thinned(_vector(element_type, op, rank, count, world), rank, density)
                   for rank in range(world))
        self._inputs = [elements.load(element_type, elements.store(element_type, vector))
                        for vector in vectors]
        self._least, self._most = self._bounds()

    def _bounds(self) -> tuple[list, list]:
        rounds = self._type in _DIGITS and self._op in (elements.SUM, elements.PROD)
        if not rounds:
            exact = functools.reduce(
                lambda a, b: elements.combine(self._type, self._op, a, b), self._inputs)
            return exact, exact
        columns = list(zip(*self._inputs))
        exact = [math.fsum(column) if self._op == elements.SUM else math.prod(column)
                 for column in columns]
        scale = [sum(map(abs, column)) for column in columns] if self._op == elements.SUM else exact
        share = 2 * len(self._inputs) * 2.0 ** -_DIGITS[self._type]
        return ([value - abs(of) * share for value, of in zip(exact, scale)],
                [value + abs(of) * share for value, of in zip(exact, scale)])

    def vector(self, rank: int, iteration: int) -> bytes:
        return elements.store(self._type, _roll(self._inputs[rank], iteration))

    def wrong(self, result: bytes, iteration: int, missing: list) -> int:
        """Elements of a reduction that are not what they must be. `missing`: bytes that lack ranks, and
        these; sums are exact then."""
        values = elements.load(self._type, result)
        exact = [_roll(self._least, iteration), _roll(self._most, iteration)]
        for place, ranks in missing:
            for bound in exact:
                self._without(bound, place, ranks, iteration)
        return sum(not least <= value <= most for value, least, most in zip(values, *exact, strict=True))

    def _without(self, sums: list, place: slice, ranks: list[int], iteration: int) -> None:
        size = elements.BYTES[self._type]
        part = slice(place.start // size, place.stop // size)
        there = [_roll(column, iteration)[part] for rank, column in enumerate(self._inputs)
                 if rank not in ranks]
        sums[part] = functools.reduce(
            lambda a, b: elements.combine(self._type, self._op, a, b), there)


class Bench:
    def __init__(self, communicator: Communicator, options: argparse.Namespace):
        self._communicator, self._options = communicator, options
        self._rank, self._world = communicator.job.rank, communicator.job.hosts

    def run(self) -> int:
        """How many elements were wrong, here or elsewhere."""
        options = self._options
        wrong = 0
        for element_type in options.datatype:
            for op in self._operators(element_type):
                for count in options.counts:
                    wrong += self._measure(element_type, op, count)
        self._take_part_in_totals()
        return wrong

    def _take_part_in_totals(self) -> None:
        """Of the figures of libtributary's ranks, as one that has none."""
        ring = self._communicator.ring
        while announced := ring.announced_allreduce():
            count, op = announced
            ring.allreduce([0 if op == elements.SUM else _MOST] * count, elements.I64, op)

    def _operators(self, element_type: int) -> list[int]:
        if self._options.collective in (ALLREDUCE, REDUCE, SPARSE_ALLREDUCE):
            return [op for op in self._options.op if elements.is_valid(element_type, op)]
        return [elements.any_operator(element_type)]

    def _measure(self, element_type: int, op: int, count: int) -> int:
        is_sparse = self._options.collective == SPARSE_ALLREDUCE
        sample = Sample(element_type, op, count, self._world,
                        self._options.density if is_sparse else 1.0)
        both_ways = self._options.collective in (ALLREDUCE, REDUCE)
        return sum(self._series(sample, element_type, op) for _ in range(1 + both_ways))

    def _series(self, sample: Sample, element_type: int, op: int) -> int:
        options = self._options
        wrong, times = 0, []
        for iteration in range(options.warmups + options.iterations):
            call = self._call_of(sample, element_type, op, iteration)
            self._communicator.ring.barrier()
            start = time.monotonic_ns()
            result = self._communicator.call(call)
            times.append(time.monotonic_ns() - start)
            wrong += self._wrong(sample, result, iteration)
        if options.collective == BARRIER:
            wrong += self._too_early()
        ring = self._communicator.ring
        ring.allreduce(times[options.warmups:], elements.I64, elements.MAX)
        return ring.allreduce([wrong], elements.I64, elements.SUM)[0]

    def _call_of(self, sample: Sample, element_type: int, op: int,
                 iteration: int) -> Call | SparseCall:
        options = self._options
        if options.collective == BARRIER:
            return Call(BARRIER)
        if options.collective == SPARSE_ALLREDUCE:
            return SparseCall.of(sample.vector(self._rank, iteration), element_type)
        if options.collective == BROADCAST:
            known = sample.vector(options.root, iteration)
            return Call(BROADCAST, known if self._rank == options.root else bytes(len(known)),
                        element_type, op, options.root)
        return Call(options.collective, sample.vector(self._rank, iteration), element_type, op,
                    options.root)

    def _wrong(self, sample: Sample, result: bytes, iteration: int) -> int:
        options = self._options
        if options.collective == BROADCAST:
            return result != sample.vector(options.root, iteration)
        is_root = self._rank == options.root
        if (options.collective in (ALLREDUCE, SPARSE_ALLREDUCE)
                or options.collective == REDUCE and is_root):
            return sample.wrong(result, iteration, self._communicator.missing())
        return 0

    def _too_early(self) -> int:
        """Barriers that let this rank go before one that comes late has come."""
        wrong = 0
        for late in range(min(self._world, _LATE_RANKS)):
            start = time.monotonic()
            self._communicator.ring.barrier()
            if self._rank == late:
                time.sleep(_LATE_S)
            self._communicator.call(Call(BARRIER))
            wrong += time.monotonic() - start < _LATE_S
        return wrong


def options_of(argv: list[str]) -> argparse.Namespace:
    """Of those that tributary-bench knows, the ones that change what is called."""
    def numbers(names):
        return lambda text: [names.index(word) for word in
                             (names if text == "all" else text.split(","))]

    parser = argparse.ArgumentParser()
    parser.add_argument("collective",
                        choices=[ALLREDUCE, REDUCE, BROADCAST, BARRIER, SPARSE_ALLREDUCE])
    parser.add_argument("--counts", type=lambda text: [int(word) for word in text.split(",")],
                        default=[0])
    parser.add_argument("-d", "--datatype", type=numbers(elements.TYPES), default=[elements.F32])
    parser.add_argument("-o", "--op", type=numbers(elements.OPERATORS), default=[elements.SUM])
    parser.add_argument("-n", "--iters", dest="iterations", type=int, default=5)
    parser.add_argument("-w", "--warmup_iters", dest="warmups", type=int, default=1)
    parser.add_argument("-r", "--root", type=int, default=0)
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--algorithm", default="canary")
    parser.add_argument("--ring", type=int, default=0)
    parser.add_argument("--deadline", type=float, default=30)
    options = parser.parse_known_args(argv)[0]
    if options.collective == SPARSE_ALLREDUCE:
        options.datatype = [kind for kind in options.datatype if kind <= elements.I64]
    return options


def protocol_of(options: argparse.Namespace, address: str, world: int):
    if options.algorithm == "panama":
        congestion_control = os.environ.get("TRIBUTARY_CONGESTION_CONTROL", "on") == "on"
        return Panama(address, os.environ["TRIBUTARY_TREES"].split(","), congestion_control, world,
                      float(os.environ.get("TRIBUTARY_SHARE", "1")))
    if options.algorithm == "flare":
        return Flare(address, os.environ["TRIBUTARY_FLARE_TREE"],
                     int(os.environ.get("TRIBUTARY_FLARE_WINDOW", "64")),
                     int(os.environ.get("TRIBUTARY_FLARE_SPARSE_WINDOW", "0")))
    if options.algorithm == "netreduce":
        return NetReduce(address, RingSettings(options.ring))
    return Canary(address)


def main(argv: list[str], address: str, mtu: int) -> int:
    options = options_of(argv)
    place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    world = int(os.environ["WORLD_SIZE"])
    protocol = protocol_of(options, address, world)
    communicator = Communicator(place, int(os.environ["RANK"]), world, address, protocol, mtu,
                                job=int(os.environ.get("TRIBUTARY_JOB", "0")),
                                secret=os.environ.get("TRIBUTARY_SECRET", ""),
                                deadline_s=options.deadline)
    wrong = Bench(communicator, options).run()
    communicator.finalize()
    print(protocol.summary(), file=sys.stderr)
    return 1 if wrong else 0
