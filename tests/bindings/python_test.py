#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package: every kind of call between processes, and what Python has to be told."""

import array
import asyncio
import concurrent.futures
import contextlib
import datetime
import gc
import inspect
import math
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import ranks

try:
    import numpy
except ImportError:
    ranks.skip("needs numpy: tools/install-packages python")
if not list(ranks.PACKAGE.glob("tributary/_core*.so")):
    ranks.skip("the Python package was not built: tools/install-packages python, and "
               "meson setup --reconfigure")
sys.path.insert(0, str(ranks.PACKAGE))
import tributary.hooks  # noqa: E402

LONG = 100_000  # elements, so many that a rank needs what others make of theirs
COUNT = 5000


def raised(error: type[BaseException], call, *words: str) -> BaseException:
    """The error that the call raises, which has to have these words."""
    try:
        call()
    except error as caught:
        for word in words:
            assert word in str(caught), f"{word!r} is not in {caught!r}"
        return caught
    raise AssertionError(f"no {error.__name__}")


def inputs(kind: str, rank: int) -> numpy.ndarray:
    """Small numbers other than zero, whose sums and products are exact in every type."""
    return (1 + (numpy.arange(COUNT) + rank) % 2).astype(kind)


def of_all(function, kind: str, size: int) -> numpy.ndarray:
    return function.reduce([inputs(kind, rank) for rank in range(size)]).astype(kind)


def types_and_operators() -> None:
    operators = {"sum": numpy.add, "prod": numpy.multiply, "min": numpy.minimum, "max": numpy.maximum}
    bitwise = {"and": numpy.bitwise_and, "or": numpy.bitwise_or, "xor": numpy.bitwise_xor}
    with tributary.Communicator() as comm:
        for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
            for op, function in (operators | ({} if kind[0] == "f" else bitwise)).items():
                if kind[0] == "u" and op in ("min", "max"):
                    continue
                values = inputs(kind, comm.rank)
                assert comm.allreduce(values, op) is values
                numpy.testing.assert_array_equal(values, of_all(function, kind, comm.size))
        # What is signed on the wire does not show.
        high = numpy.array([2**63 + comm.rank], dtype="u8")
        assert comm.allreduce(high)[0] == 2**63 * comm.size % 2**64 + sum(range(comm.size))
        truths = numpy.array([True, comm.rank == 0, False])
        assert list(comm.allreduce(truths, "and")) == [True, False, False]
        assert list(comm.allreduce(numpy.array([comm.rank == 1, False]), "or")) == [True, False]


def named_types() -> None:
    with tributary.Communicator() as comm:
        halves = (inputs("f4", comm.rank).view("u4") >> 16).astype("u2")
        comm.allreduce(halves, dtype="bf16")
        numpy.testing.assert_array_equal((halves.astype("u4") << 16).view("f4"),
                                         of_all(numpy.add, "f4", comm.size))
        pairs = numpy.zeros(3, dtype=[("value", "f4"), ("index", "i4")])
        pairs["value"], pairs["index"] = [comm.rank, -comm.rank, 7], comm.rank
        comm.allreduce(pairs, "maxloc", dtype="f32_i32")
        assert list(pairs["index"]) == [comm.size - 1, 0, 0]


def buffers() -> None:
    with tributary.Communicator() as comm:
        for buffer in (array.array("i", [1, 2]), memoryview(array.array("i", [1, 2])),
                       bytearray([1, 2]), numpy.array([[1], [2]])):
            assert list(comm.allreduce(buffer))[0] == comm.size
        given, out = numpy.ones(7), numpy.zeros(7)
        assert comm.allreduce(given, out=out) is out
        assert (given == 1).all() and (out == comm.size).all()
        # Nobody writes to what is only read.
        assert comm.allreduce(numpy.ones(7).tobytes(), dtype="f64", out=out) is out
        assert comm.allreduce(numpy.zeros(0)).size == 0


def refused_buffers() -> None:
    """Nothing of it reaches the other ranks."""
    with tributary.Communicator() as comm:
        def bad(*words, buffer=numpy.ones(4), error=TypeError, **more):
            raised(error, lambda: comm.allreduce(buffer, **more), *words)

        bad("contiguous", "ascontiguousarray", buffer=numpy.ones((4, 4))[:, ::2])
        bad("contiguous", buffer=numpy.asfortranarray(numpy.ones((4, 4))))
        bad("read-only", "writable", buffer=b"1234")
        bad("read-only", out=b"12345678" * 4)
        bad("is a int", "numpy array", buffer=3)
        bad("unsigned", "astype('int64')", buffer=numpy.ones(4, "u2"), op="max")
        bad("bool", buffer=numpy.ones(4, "?"), op="sum")
        bad("'Zd'", "view", buffer=numpy.ones(4, "c16"))
        bad("'>f'", buffer=numpy.ones(4, ">f4"))
        bad("there is no or of f64", op="or")
        bad("another type", out=numpy.ones(4, "i8"))
        bad("out has 24 bytes", out=numpy.ones(3), error=ValueError)
        bad("there is no operator 'avg'", "sum, min", op="avg", error=ValueError)
        bad("there is no dtype 'f5'", "bf16", dtype="f5", error=ValueError)
        bad("no elements of type bf16", dtype="bf16")
        memory = numpy.ones(8)
        bad("overlap", buffer=memory[:4], out=memory[2:6], error=ValueError)
        raised(ValueError, lambda: comm.reduce_scatter(numpy.ones(3), numpy.ones(1)), "divided")
        raised(ValueError, lambda: comm.allgather(numpy.ones(3), numpy.ones(3)), "48")
        raised(tributary.InvalidArgumentError, lambda: comm.broadcast(numpy.ones(3), 9), "no such root")
        assert comm.allreduce(numpy.ones(1))[0] == comm.size


class Interrupted:
    """A number that nobody gets to see."""

    def __index__(self) -> int:
        raise KeyboardInterrupt("of its own")


def refused_numbers() -> None:
    """With a sentence in place of all signatures of the function."""
    def bad(error: type[BaseException], name: str, given, call, most: int = 2**32 - 1) -> None:
        said = raised(error, call, f"{name} is {given!r}: give a whole number from 0 to {most}")
        assert "signature" not in str(said) and "incompatible" not in str(said)

    with tributary.Communicator() as comm:
        for call in comm.broadcast, comm.ibroadcast, comm.reduce, comm.ireduce:
            bad(ValueError, "root", -1, lambda: call(numpy.ones(1), root=-1))
            bad(ValueError, "root", 2**70, lambda: call(numpy.ones(1), root=2**70))
            bad(TypeError, "root", 0.5, lambda: call(numpy.ones(1), root=0.5))
            bad(TypeError, "root", True, lambda: call(numpy.ones(1), root=True))
        bad(ValueError, "size", -2, lambda: comm.regroup(-2))
        comm.broadcast(numpy.ones(1), numpy.int8(0))
        bad(ValueError, "layers", -3, lambda: tributary.GradientExchange(comm, [4, -3], print), 2**64 - 1)
        bad(ValueError, "staleness", -1, lambda: tributary.GradientExchange(comm, [4], print, staleness=-1))
        assert comm.partial_results() == [], "of the ring no rank is missing"
    bad(ValueError, "count", -1, lambda: tributary.Sketch(-1), 2**64 - 1)
    bad(ValueError, "bits", -8, lambda: tributary.Sketch(1, bits=-8))
    bad(ValueError, "seed", -1, lambda: tributary.Sketch(1, seed=-1), 2**64 - 1)
    bad(ValueError, "layers", -1, lambda: tributary.Sketch.of_layers([1, -1]), 2**64 - 1)
    bad(ValueError, "rank", -4, lambda: tributary.Sketch.low_rank(8, 8, -4), 2**64 - 1)
    bad(TypeError, "seed", True, lambda: tributary.Sketch(1, seed=True), 2**64 - 1)
    raised(KeyboardInterrupt, lambda: tributary.Sketch(Interrupted()), "of its own")
    bad(ValueError, "number", -1, lambda: tributary.load_handler(-1, "acc = acc + in;", "i8"))


def other_collectives() -> None:
    with tributary.Communicator() as comm:
        rank, size = comm.rank, comm.size
        values = numpy.full(COUNT, rank, "f4")
        comm.broadcast(values, root=1)
        assert (values == 1).all()
        assert list(comm.broadcast(bytearray(b"abc" if rank == 0 else b"xyz"))) == list(b"abc")
        total = comm.reduce(numpy.full(9, rank + 1), root=size - 1)
        assert (total is None) == (rank != size - 1)
        assert total is None or (total == sum(range(1, size + 1))).all()
        every = comm.allgather(numpy.full(3, rank), numpy.zeros((size, 3), dtype=int))
        assert [list(row) for row in every] == [[one] * 3 for one in range(size)]
        part = comm.reduce_scatter(numpy.arange(2.0 * size), numpy.zeros(2))
        assert list(part) == [2.0 * rank * size, (2 * rank + 1.0) * size]
        comm.barrier()


def parts() -> None:
    with tributary.Communicator() as comm:
        part = comm.split(comm.rank % 2, key=-comm.rank)
        assert part.size == 2 and part.rank == (1 if comm.rank < 2 else 0)
        assert part.allreduce(numpy.array([comm.rank]))[0] == comm.rank % 2 * 2 + 2
        assert comm.split(None if comm.rank else 0) is None or comm.rank == 0
        part.close()


def requests() -> None:
    with tributary.Communicator() as comm:
        values = [numpy.full(COUNT, number, "f4") for number in range(20)]
        posted = [comm.iallreduce(one) for one in values]
        for number, request in enumerate(posted):
            assert request.wait() is values[number]
            assert (values[number] == number * comm.size).all()
            assert request.test() and request.wait() is values[number]


def outstanding_requests() -> None:
    """Rank 1 comes when rank 0 says so, by another communicator."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
            comm.barrier()
            return
        request = comm.ibarrier()
        assert not request.test()
        raised(TimeoutError, lambda: request.wait(timeout=0.05), "goes on")
        raised(ValueError, lambda: request.wait(timeout=-1), "seconds")
        signal_of_0.barrier()
        request.wait(timeout=ranks.PATIENCE_S)


def who_waits_is_in_nobodys_way() -> None:
    """Rank 1 comes when rank 0 has asked a hundred times."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
            comm.barrier()
            return
        late = comm.ibarrier()
        waits = threading.Thread(target=late.wait)
        waits.start()
        time.sleep(0.3)
        for _ in range(1000):
            assert not late.test()
        raised(TimeoutError, lambda: late.wait(timeout=0.01), "goes on")
        early = signal_of_0.ibarrier()
        assert tributary.wait_any([late, early]) in (late, early)
        early.wait()
        waits.join()
        assert late.test()


def abandoned_requests() -> None:
    """Memory that a collective uses is not anybody else's before it ends."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
        busy = bytearray(8000)
        comm.iallreduce(busy)
        for _ in range(100):
            comm.iallreduce(numpy.ones(COUNT))
        gc.collect()
        if comm.rank == 0:
            raised(BufferError, lambda: busy.extend(b"x"))
            signal_of_0.barrier()
        comm.barrier()
        comm.barrier()
        busy.extend(b"x")


def buffers_with_finalizers() -> None:
    """What Python does when a buffer goes may be the next call."""
    with tributary.Communicator() as comm:
        def post() -> None:
            if not comm.closed:
                comm.iallreduce(numpy.ones(3))

        for _ in range(64):
            vector = numpy.ones(COUNT)
            weakref.finalize(vector, post)
            comm.iallreduce(vector)
        del vector
        comm.barrier()
        comm.iallreduce(numpy.ones(3))
        comm.barrier()


def closing_is_aborted() -> None:
    """By another thread, or by a signal whose handler raises."""
    def by_another_close(comm) -> None:
        comm.close()  # which leaves it to the first
        comm.abort()

    for how in (lambda comm: comm.abort(), by_another_close, lambda _: os.kill(os.getpid(), signal.SIGINT)):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with tributary.Communicator(stall_timeout=ranks.PATIENCE_S) as signal_of_0:
            comm = signal_of_0.split(0)
            if comm.rank == 1:
                signal_of_0.barrier()
                raised(tributary.Error, lambda: comm.allreduce(numpy.ones(LONG)))
                continue
            request = comm.iallreduce(numpy.ones(LONG))

            def end_it() -> None:
                while not comm.closed:
                    time.sleep(0.01)
                how(comm)

            ending = threading.Thread(target=end_it)
            ending.start()
            with contextlib.suppress(KeyboardInterrupt):
                comm.close()
            ending.join()
            raised(tributary.AbortedError, request.wait)
            signal_of_0.barrier()


def a_fork_while_a_thread_waits() -> None:
    """The child has none of its parent's requests, and ends."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
            comm.barrier()
            return
        request = comm.ibarrier()
        waiting = threading.Thread(target=request.wait)
        waiting.start()
        time.sleep(0.3)
        child = os.fork()
        if child == 0:
            raised(tributary.InvalidArgumentError, request.test, "forked")
            comm.close()
            os._exit(0)
        until = time.monotonic() + ranks.PATIENCE_S
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < until:
            time.sleep(0.05)
        if ended == (0, 0):
            os.kill(child, signal.SIGKILL)
        assert ended == (child, 0), ended
        signal_of_0.barrier()
        waiting.join()


def awaited_requests() -> None:
    """The loop runs while others are waited for: it is what calls them."""
    async def work(comm, signal_of_0) -> None:
        if comm.rank == 1:
            await signal_of_0.ibarrier()
        reducing = asyncio.gather(*(comm.iallreduce(numpy.full(3, one)) for one in range(5)))
        if comm.rank == 0:
            done, _ = await asyncio.wait([reducing], timeout=0.1)
            assert not done
            await signal_of_0.ibarrier()
        assert [one[0] for one in await reducing] == [one * comm.size for one in range(5)]

    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        asyncio.run(work(comm, signal_of_0))


async def result_of(request: tributary.Request):
    return await request


def awaited_requests_take_no_threads() -> None:
    """There are more of them than a loop has threads, and others get one."""
    async def work(comm, signal_of_0) -> None:
        if comm.rank == 1:
            await signal_of_0.ibarrier()
        posted = [comm.iallreduce(numpy.full(3, one)) for one in range(100)]
        reducing = asyncio.gather(*posted, *(result_of(one) for one in posted))
        if comm.rank == 0:
            await asyncio.sleep(0.1)
            assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 10) == "done"
            await signal_of_0.ibarrier()
        assert [one[0] for one in await reducing] == [one * comm.size for one in range(100)] * 2

    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        asyncio.run(work(comm, signal_of_0))


def awaited_requests_let_the_loop_end() -> None:
    """Of one that took too long, which goes on, and can be awaited in another loop."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
            comm.barrier()
            return
        late = comm.ibarrier()
        began = time.monotonic()
        raised(asyncio.TimeoutError, lambda: asyncio.run(asyncio.wait_for(late, 0.2)))
        assert time.monotonic() - began < 10
        assert not late.test()
        signal_of_0.barrier()
        asyncio.run(asyncio.wait_for(late, ranks.PATIENCE_S))


def awaited_requests_fail() -> None:
    """By their deadlines before their turn, too, which nobody but who waits notices."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
            comm.barrier()
            return
        first = comm.ibarrier()
        second = comm.ibarrier(deadline=0.2)
        raised(tributary.TimeoutError, lambda: asyncio.run(asyncio.wait_for(second, 20)), "before its turn")
        signal_of_0.barrier()
        first.wait()


def other_threads_run() -> None:
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
            comm.barrier()
            return
        calling = threading.Timer(0.1, signal_of_0.barrier)
        calling.start()
        comm.barrier()
        calling.join()


def interrupted() -> None:
    """Whoever types ^C gets Python back, and the other ranks an error."""
    comm = tributary.Communicator(stall_timeout=20)
    signal_of_0 = comm.split(0)
    values = numpy.ones(LONG)

    def allreduce() -> None:
        comm.allreduce(values)

    if comm.rank == 0:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        raised(KeyboardInterrupt, allreduce)
        raised(tributary.AbortedError, comm.barrier)
        signal_of_0.barrier()
    else:
        signal_of_0.barrier()
        raised(tributary.Error, allreduce)


def a_rank_dies() -> None:
    comm = tributary.Communicator(stall_timeout=20)
    values = numpy.ones(COUNT)
    comm.allreduce(values)
    if comm.rank == 1:
        os._exit(0)
    error = raised(tributary.Error, lambda: comm.allreduce(values))
    assert isinstance(error, (tributary.NetworkError, tributary.TimeoutError)), repr(error)
    assert "rank 1" in str(error) or "next" in str(error) or "before" in str(error), error


def late_ranks_time_out() -> None:
    comm = tributary.Communicator(stall_timeout=4)
    if comm.rank == 1:
        time.sleep(8)
        return
    error = raised(TimeoutError, comm.barrier, "4 s")
    assert isinstance(error, tributary.TimeoutError) and isinstance(error, tributary.Error)


def deadlines() -> None:
    """Of one call, which the communicator's time limits have nothing to do with."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        assert comm.allreduce(numpy.ones(3), deadline=60)[0] == comm.size
        comm.barrier(deadline=datetime.timedelta(minutes=1))
        raised(ValueError, lambda: comm.barrier(deadline=-1), "deadline")
        raised(TypeError, lambda: comm.ibarrier(deadline="soon"), "deadline")
        if comm.rank == 1:
            signal_of_0.barrier()
            raised(tributary.Error, lambda: comm.barrier(deadline=5))
            return
        error = raised(tributary.TimeoutError, lambda: comm.allreduce(numpy.ones(3), deadline=0.05),
                       "deadline of its request", "rank 1")
        assert isinstance(error, TimeoutError)
        raised(tributary.NetworkError, comm.barrier, "earlier error")
        signal_of_0.barrier()


def any_of_several() -> None:
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        if comm.rank == 1:
            signal_of_0.barrier()
            signal_of_0.barrier()
            comm.allreduce(numpy.ones(3))
            return
        late = comm.iallreduce(numpy.ones(3))
        early = signal_of_0.ibarrier()
        pending = [late, early]
        assert tributary.wait_any(pending) is early
        assert tributary.wait_any(iter(pending), timeout=0) is early
        raised(TimeoutError, lambda: tributary.wait_any([late, late], timeout=0.05), "goes on")
        raised(ValueError, lambda: tributary.wait_any([]), "no requests")
        raised(TypeError, lambda: tributary.wait_any([early, 3]))
        signal_of_0.barrier()
        assert tributary.wait_any([late]) is late
        assert late.wait()[0] == comm.size


def handlers() -> None:
    tributary.load_handler(3, "acc = min(acc + in, 100);", "i8")
    with tributary.Communicator() as comm:
        assert (comm.allreduce(numpy.full(COUNT, 60, "i1"), "handler:3") == 100).all()
        total = comm.reduce(numpy.full(9, 10, "i1"), op="handler:3")
        assert total is None or (total == 10 * comm.size).all()
        raised(tributary.InvalidArgumentError, lambda: tributary.load_handler(3, "acc = in;", "i8"), "taken")
        raised(tributary.InvalidArgumentError, lambda: tributary.load_handler(4, "acc = im;", "f32"),
               "there is no `im`")
        raised(ValueError, lambda: tributary.load_handler(4, "acc = in;", "f5"), "no dtype")
        raised(ValueError, lambda: comm.allreduce(numpy.zeros(1), "handler:64"), "from 0 to 63")
        raised(ValueError, lambda: comm.allreduce(numpy.zeros(1), "handler:3x"), "from 0 to 63")
        raised(TypeError, lambda: comm.allreduce(numpy.zeros(1, "u1"), "handler:3"), "signed")
        raised(tributary.InvalidArgumentError, lambda: tributary.load_handler_file(4, "/nowhere.so"),
               "/nowhere.so")
        # Of elements of its own: pairs of floats, which it multiplies as complex numbers.
        tributary.load_handler_file(4, str(ranks.BUILD / "examples" / "handlers" / "complex_product.so"))
        turns = numpy.full(100, 1j, "c8").view("f4")
        comm.allreduce(turns.view("u1"), "handler:4", dtype="opaque8")
        numpy.testing.assert_array_equal(turns.view("c8"), numpy.full(100, 1j ** comm.size, "c8"))


def sketches() -> None:
    with tributary.Communicator() as comm:
        def gradient(rank: int) -> numpy.ndarray:
            return numpy.sin(numpy.arange(COUNT) * (rank + 1)).astype("f4")

        exact = sum(gradient(rank).astype("f8") for rank in range(comm.size))
        unit = 1.01 / (127 // comm.size)
        sketch = tributary.Sketch(COUNT)
        given, out = gradient(comm.rank), numpy.zeros(COUNT, "f4")
        assert comm.sketched_allreduce(given, sketch, out) is out
        assert abs(out - exact).max() <= comm.size * unit
        every = comm.allgather(out, numpy.zeros((comm.size, COUNT), "f4"))
        assert (every == out).all()
        # What was rounded off comes with the next one: no more than one rounding is ever missing.
        sums = out.astype("f8")
        for _ in range(9):
            sums += comm.isketched_allreduce(given.copy(), sketch).wait()
        assert abs(sums - 10 * exact).max() <= comm.size * unit * 1.1
        assert abs(numpy.asarray(sketch.residual())).max() <= unit * 1.1
        matrix = numpy.outer(numpy.arange(40), numpy.arange(60)).astype("f4") * (comm.rank + 1)
        as_factors = tributary.Sketch.low_rank(40, 60, 2, bits=32)
        assert as_factors.count == 2400
        result = comm.sketched_allreduce(matrix, as_factors)
        scale = comm.size * (comm.size + 1) / 2
        assert abs(result - numpy.outer(numpy.arange(40), numpy.arange(60)) * scale).max() < 0.01 * scale
        raised(tributary.InvalidArgumentError,
               lambda: comm.sketched_allreduce(matrix, tributary.Sketch.low_rank(40, 60, 41)), "1 to 40")
        by_codes = tributary.Sketch(COUNT, kind="quantiles", bits=8, rounding="nearest", feedback=False)
        assert by_codes.residual() is None and by_codes.count == COUNT
        assert abs(comm.sketched_allreduce(gradient(comm.rank), by_codes) - exact).max() < 0.2
        raised(TypeError, lambda: comm.sketched_allreduce(numpy.zeros(COUNT), sketch), "f32")
        raised(ValueError, lambda: comm.sketched_allreduce(out[1:], sketch), str(COUNT))
        raised(ValueError, lambda: tributary.Sketch(3, kind="sheep"), "quantiles")
        raised(ValueError, lambda: tributary.Sketch(3, rounding="up"), "nearest")
        raised(tributary.InvalidArgumentError,
               lambda: comm.sketched_allreduce(out, tributary.Sketch(COUNT, bits=5)), "5 bits")
        comm.barrier()


class Gradients:
    """As much of a tensor as a hook touches."""

    def __init__(self, values: numpy.ndarray):
        self.values = values

    def numpy(self) -> numpy.ndarray:
        return self.values

    def div_(self, divisor: float):
        self.values /= divisor
        return self


class Parameter:
    def __init__(self, address: int):
        self.address = address

    def data_ptr(self) -> int:
        return self.address


class Gradient:
    def __init__(self, *shape: int):
        self.shape = shape

    def numel(self) -> int:
        return math.prod(self.shape)


class Bucket:
    """As DDP hands it to a hook."""

    def __init__(self, values: numpy.ndarray, addresses: tuple = (1, 2), shapes: tuple = ()):
        self.flat = Gradients(values)
        self.addresses = addresses
        self.shapes = shapes or (values.shape,)

    def index(self) -> int:
        return 0

    def buffer(self) -> Gradients:
        return self.flat

    def gradients(self) -> list:
        return [Gradient(*shape) for shape in self.shapes]

    def parameters(self) -> list:
        return [Parameter(address) for address in self.addresses]


class Averaged(concurrent.futures.Future):
    """torch.futures.Future's wait(), by that of another library."""

    def wait(self):
        return self.result(ranks.PATIENCE_S)


class Apart:
    """A communicator whose first collective fails while those behind it are in flight."""

    size = 1

    def __init__(self):
        self.posted = 0
        self.ended = []

    def isketched_allreduce(self, _part, _sketch) -> "Apart.Request":
        self.posted += 1
        return Apart.Request(self, self.posted)

    class Request:
        def __init__(self, comm: "Apart", number: int):
            self.comm = comm
            self.number = number

        def wait(self) -> None:
            self.comm.ended.append(self.number)
            if self.number == 1:
                raise tributary.NetworkError("the first one")


def gradient_hook() -> None:
    apart = Apart()
    failing = tributary.hooks.sketch_hook(apart, Averaged, low_rank=1)
    bucket = Bucket(numpy.ones(430, "f4"), (7,), ((30,), (20, 10), (200,)))
    raised(tributary.NetworkError, lambda: failing(None, bucket).wait(), "the first one")
    assert apart.ended == [1, 2, 3], "DDP may use the bucket again"
    raised(ValueError, lambda: tributary.hooks.sketch_hook(apart, Averaged, low_rank=1, kind="quantiles"), "grid")
    raised(ValueError, lambda: tributary.hooks.sketch_hook(apart, Averaged, bits=32), "low_rank")
    with tributary.Communicator() as comm:
        hook = tributary.hooks.sketch_hook(comm, Averaged, bits=8, rounding="nearest")
        # DDP asks for both.
        assert hook.__name__ and "bucket" in inspect.signature(hook).parameters

        def gradient(rank: int) -> numpy.ndarray:
            return numpy.sin(numpy.arange(COUNT) * (rank + 1)).astype("f4")

        exact = sum(gradient(rank).astype("f8") for rank in range(comm.size)) / comm.size
        unit = 1.01 / (127 // comm.size)
        sums = numpy.zeros(COUNT)
        for _ in range(10):
            bucket = Bucket(gradient(comm.rank))
            averaged = hook(None, bucket).wait()
            assert averaged is bucket.flat
            assert abs(averaged.values - exact).max() <= 2 * unit
            sums += averaged.values
        # What was rounded off came with the next one.
        assert abs(sums - 10 * exact).max() <= unit * 1.1, abs(sums - 10 * exact).max()
        # Another bucket under the same index begins anew; several are in flight.
        ones = [Bucket(numpy.ones(7, "f4"), (9,)) for _ in range(3)]
        for averaged in [hook(None, bucket) for bucket in ones]:
            numpy.testing.assert_allclose(averaged.wait().values, 1, atol=2 / 127 * comm.size)
        raised(TypeError, lambda: hook(None, Bucket(numpy.ones(7), (9,))), "f32")
        comm.barrier()
        # A bias, a matrix, two vectors, and a matrix that is too small for factors.
        shapes = (30,), (30, 5, 8), (10,), (3,), (4, 4)
        count = sum(math.prod(shape) for shape in shapes)
        factored = tributary.hooks.sketch_hook(comm, Averaged, bits=16, low_rank=2)
        before = comm.statistics("sketch_bytes")
        bucket = Bucket(numpy.arange(count, dtype="f4") * (comm.rank + 1), (7,), shapes)
        averaged = factored(None, bucket).wait().values
        exact = numpy.arange(count) * (comm.size + 1) / 2
        assert abs(averaged - exact).max() < 0.002 * exact.max(), abs(averaged - exact).max()
        # The bounds are one word for each 512 elements of a layer or a factor, and four say whose layers these are.
        assert comm.statistics("sketch_bytes") - before == 2 * (30 + 2 * (30 + 40) + 29 + 6 + 4)
        # On a grid no layer shows in another one, by its units or by what is not finite.
        shapes = (20, 3, 3), (16,), (500,)
        for bits in (4, 8, 16):
            by_layer = tributary.hooks.sketch_hook(comm, Averaged, bits=bits, seed=5)
            before = comm.statistics("sketch_bytes")
            averaged = by_layer(None, Bucket(numpy.repeat(numpy.array([0.001, 100, numpy.nan], "f4"), [180, 16, 500]),
                                             (8,), shapes)).wait().values
            levels = (1 << (bits - 1)) // comm.size
            numpy.testing.assert_allclose(averaged[:180], 0.001, atol=0.0011 / levels * comm.size)
            numpy.testing.assert_allclose(averaged[180:196], 100, atol=110 / levels * comm.size)
            assert numpy.isnan(averaged[196:]).all()
            assert comm.statistics("sketch_bytes") - before == 696 * bits // 8 + (3 + 4) * 2, "nothing fills gaps"
        # Two buckets do not draw the same numbers.
        drawing = tributary.hooks.sketch_hook(comm, Averaged, bits=8, feedback=False)
        first, second = (drawing(None, Bucket(gradient(comm.rank), (address,))).wait().values for address in (1, 2))
        assert (first != second).any()
        comm.barrier()
        too_few = tributary.hooks.sketch_hook(comm, Averaged, bits=5)
        raised(tributary.InvalidArgumentError,
               lambda: too_few(None, Bucket(numpy.ones(7, "f4"))).wait(), "5 bits")
        comm.barrier()


LAYERS = 500, 3


class Replica:
    """Adds up what it gets, of gradients that are powers of two: a sum tells who is in it."""

    def __init__(self):
        self.parameters = numpy.zeros(len(LAYERS), "f4")
        self.contributors = []
        self.iterations = []

    def apply(self, layer: int, values: memoryview, contributors: list, iteration: int) -> None:
        values = numpy.asarray(values)
        assert values.shape == (LAYERS[layer],) and (values == sum(1 << rank for rank in contributors)).all()
        self.parameters[layer] += values[0]
        self.contributors.append(contributors)
        self.iterations.append(iteration)


def iterate(exchange: tributary.GradientExchange, rank: int) -> bool:
    exchange.enter()
    for layer in reversed(range(len(LAYERS))):
        exchange.offer(layer, numpy.full(LAYERS[layer], 1 << rank, "f4"))
    return exchange.finish()


def exchanges() -> None:
    for synchrony in "bsp", "ssp", "asp":
        with tributary.Communicator(master_port=int(os.environ["MASTER_PORT"])) as comm:
            replica = Replica()
            with tributary.GradientExchange(comm, LAYERS, replica.apply, replica.parameters, synchrony=synchrony,
                                            staleness=1) as exchange:
                raised(tributary.InvalidArgumentError, comm.barrier, "belongs to an exchange")
                for _ in range(6):
                    time.sleep(0.005 * comm.rank)
                    assert iterate(exchange, comm.rank)
            assert exchange.closed
            assert list(replica.parameters) == [6 * (2 ** comm.size - 1)] * 2
            assert exchange.statistics("layers_contributed") == 12
            everybody = list(range(comm.size))
            assert exchange.gei() == {iteration: [everybody] * 2 for iteration in range(6)}, exchange.gei()
            if synchrony == "bsp":
                assert replica.contributors == [everybody] * 12
                assert replica.iterations == [iteration for iteration in range(6) for _ in LAYERS]
            every = comm.allgather(replica.parameters, numpy.zeros((comm.size, 2), "f4"))
            assert (every == replica.parameters).all()


def colayers() -> None:
    """All ranks have the same ones, though one has both gradients at once; the others have them one after the other."""
    layers = [300_000, 300_000]
    with tributary.Communicator() as comm:
        sums = []
        with tributary.GradientExchange(comm, layers, lambda layer, values, *_: sums.append(values[-1]),
                                        regroup=3) as exchange:
            counts = []
            for _ in range(8):
                exchange.enter()
                counts.append(exchange.statistics("colayers"))
                for layer in reversed(range(len(layers))):
                    time.sleep(0 if comm.rank == 0 else 0.05)
                    exchange.offer(layer, numpy.ones(layers[layer], "f4"))
                exchange.finish()
        assert sums == [comm.size] * 16, sums
        assert counts[:3] == [2, 2, 2], counts
        every = comm.allgather(numpy.array(counts, "i4"), numpy.zeros((comm.size, len(counts)), "i4"))
        assert (every == numpy.array(counts)).all(), every


def sketched_exchanges() -> None:
    with tributary.Communicator() as comm:
        sums = []
        with tributary.GradientExchange(comm, LAYERS, lambda layer, values, *_: sums.append((layer, values)),
                                        bits=8, rounding="nearest") as exchange:
            for _ in range(20):
                exchange.enter()
                exchange.offer(1, numpy.float32([100, 0.1, -100]))
                exchange.offer(0, numpy.zeros(LAYERS[0], "f4"))
                exchange.finish()
        total = sum(numpy.float64(values) for layer, values in sums if layer == 1)
        unit = 101 / (127 // comm.size)  # what was rounded off is at most a half of it on each rank
        assert len(sums) == 40 and abs(total[1] - 20 * 0.1 * comm.size) <= comm.size * unit / 2, total
        assert total[1] != 0, "without feedback nothing of it is ever sent"
        assert comm.statistics("sketch_bytes") > 0
        for error, why, options in ((tributary.InvalidArgumentError, "3 bits", {"bits": 3}),
                                    (ValueError, "'wool'", {"kind": "wool"})):
            raised(error, lambda: tributary.GradientExchange(comm, LAYERS, print, **options), why)


def stale_gradients_are_dropped() -> None:
    """Rank 0 says by another communicator when it is far ahead."""
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        replica = Replica()
        exchange = tributary.GradientExchange(comm, LAYERS, replica.apply, replica.parameters, synchrony="ssp",
                                              staleness=1, stale="drop")
        if comm.rank == 0:
            for _ in range(5):
                assert iterate(exchange, 0)
            signal_of_0.barrier()
        else:
            assert exchange.enter() == 0
            signal_of_0.barrier()
            for layer, elements in enumerate(LAYERS):
                exchange.offer(layer, array.array("f", [1000] * elements))
            assert not exchange.finish()
            assert exchange.enter() == 4 and list(replica.parameters) == [5, 5]
            assert exchange.statistics("pulls") == 1
        exchange.close()
        assert list(replica.parameters) == [5, 5]


def other_threads_run_while_an_exchange_waits() -> None:
    with tributary.Communicator() as comm, comm.split(0) as signal_of_0:
        replica = Replica()
        with tributary.GradientExchange(comm, LAYERS, replica.apply) as exchange:
            if comm.rank == 1:
                signal_of_0.barrier()
                assert iterate(exchange, 1)
                return
            calling = threading.Timer(0.1, signal_of_0.barrier)
            calling.start()
            assert iterate(exchange, 0)
            calling.join()


def what_applies_may_raise() -> None:
    comm = tributary.Communicator()

    def fail(*_told) -> None:
        comm.rank / 0

    exchange = tributary.GradientExchange(comm, LAYERS, fail if comm.rank == 0 else Replica().apply)

    def train() -> None:
        iterate(exchange, comm.rank)
        exchange.close()

    raised(ZeroDivisionError if comm.rank == 0 else tributary.Error, train)
    raised(tributary.Error, exchange.enter)


def exchange_interrupted() -> None:
    """Whoever types ^C gets Python back, and the other ranks an error."""
    comm = tributary.Communicator(stall_timeout=20)
    signal_of_0 = comm.split(0)
    exchange = tributary.GradientExchange(comm, LAYERS, Replica().apply)
    if comm.rank == 0:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        raised(KeyboardInterrupt, lambda: iterate(exchange, 0))
        raised(tributary.AbortedError, exchange.close)
        signal_of_0.barrier()
    else:
        signal_of_0.barrier()
        raised(tributary.Error, lambda: iterate(exchange, 1))


def an_exchange_that_nobody_has_any_more() -> None:
    """Is not waited for: neither by who had it nor by the other ranks."""
    comm = tributary.Communicator(stall_timeout=20)
    replica = Replica()
    exchange = tributary.GradientExchange(comm, LAYERS, replica.apply)
    if comm.rank == 0:
        assert iterate(exchange, 0)
        del exchange
        gc.collect()
        raised(tributary.AbortedError, comm.barrier)
        assert not replica.contributors
    else:
        def train() -> None:
            iterate(exchange, 1)
            exchange.close()

        raised(tributary.Error, train)


class Trainer:
    """It has the exchange, which calls it."""

    def __init__(self, comm: tributary.Communicator):
        self.exchange = tributary.GradientExchange(comm, LAYERS, self.apply)

    def apply(self, layer: int, values, contributors: list[int], iteration: int) -> None:
        pass


def an_exchange_that_only_itself_refers_to() -> None:
    """Python's garbage collector finds it."""
    comm = tributary.Communicator(stall_timeout=20)
    trainer = Trainer(comm)
    gc.collect()
    if comm.rank == 0:
        assert iterate(trainer.exchange, 0)
        del trainer
        gc.collect()
        raised(tributary.AbortedError, comm.barrier)
    else:
        def train() -> None:
            iterate(trainer.exchange, 1)
            trainer.exchange.close()

        raised(tributary.Error, train)


class Collects:
    """What goes with the exchange lets the collector run."""

    def __call__(self, layer: int, values, contributors: list[int], iteration: int) -> None:
        pass

    def __del__(self):
        gc.collect()


def the_collector_runs_while_an_exchange_goes() -> None:
    with tributary.Communicator() as comm:
        exchange = tributary.GradientExchange(comm, LAYERS, Collects())
        exchange.close()
        del exchange
        comm.barrier()


def the_collector_runs_while_an_exchange_comes() -> None:
    class Mine(tributary.GradientExchange):
        pass

    with tributary.Communicator() as comm:
        before = gc.get_threshold()
        gc.set_threshold(1)
        try:
            exchange = Mine(comm, LAYERS, Replica().apply)
        finally:
            gc.set_threshold(*before)
        exchange.close()


def what_was_posted_is_awaited_beside_an_exchange() -> None:
    """The exchange has the communicator, too, and nobody has the request."""
    comm = tributary.Communicator()
    exchange = tributary.GradientExchange(comm, LAYERS, Replica().apply)
    exchange.close()
    if comm.rank == 1:
        time.sleep(0.5)
    vector = numpy.ones(COUNT, "f4")
    comm.iallreduce(vector)
    comm.close()
    assert (vector == 2).all() and exchange.closed


def refused_exchanges() -> None:
    with tributary.Communicator() as comm:
        def make(*words, error=ValueError, layers=LAYERS, apply=print, parameters=None, **more):
            raised(error, lambda: tributary.GradientExchange(comm, layers, apply, parameters, **more), *words)

        make("no synchrony 'sync'", "bsp, ssp, asp", synchrony="sync")
        make("wait, drop", stale="forget")
        make("function", error=TypeError, apply=3)
        make("float32", error=TypeError, parameters=numpy.zeros(3))
        make("read-only", error=TypeError, parameters=b"1234")
        make("parameters of others", synchrony="asp")
        make("at least one layer", layers=())
        make("proportion", proportion=0)
        make("pause", pause=0)

        def call_again(*_told) -> None:
            raised(ValueError, exchange.finish, "one thread at a time")

        with tributary.GradientExchange(comm, LAYERS, call_again) as exchange:
            raised(tributary.InvalidArgumentError, exchange.finish, "enter()")
            exchange.enter()
            raised(TypeError, lambda: exchange.offer(0, numpy.zeros(500)), "float32")
            raised(tributary.InvalidArgumentError, lambda: exchange.offer(0, numpy.zeros(3, "f4")), "elements")
            for layer, elements in enumerate(LAYERS):
                exchange.offer(layer, numpy.zeros(elements, "f4"))
            assert exchange.finish()
            raised(tributary.InvalidArgumentError, lambda: exchange.statistics("sheep"), "sheep")


def leaving() -> None:
    lines = []
    comm = tributary.Communicator(on_notice=lines.append)
    assert comm.algorithm == "ring" and "ring" in lines[0], lines
    before = comm.statistics("collectives_by_ring")
    comm.barrier()
    assert comm.statistics("collectives_by_ring") == before + 1
    raised(tributary.InvalidArgumentError, lambda: comm.statistics("sheep"), "sheep")
    comm.close()
    assert comm.closed
    comm.close()
    raised(ValueError, comm.barrier, "closed")
    # What goes wrong within is not waited for.
    raised(ZeroDivisionError, _fail_within)


def _fail_within() -> None:
    with tributary.Communicator(master_port=int(os.environ["MASTER_PORT"])) as comm:
        comm.iallreduce(numpy.ones(COUNT))
        1 / 0


def refused_options() -> None:
    raised(tributary.InvalidArgumentError, lambda: tributary.Communicator(algoritm="ring"),
           "TRIBUTARY_ALGORITM")
    raised(tributary.InvalidArgumentError, lambda: tributary.Communicator(algorithm="bus"), "bus")
    raised(tributary.InvalidArgumentError, lambda: tributary.Communicator(rank=None), "RANK is not set")
    raised(tributary.InvalidArgumentError, lambda: tributary.Communicator(rank=7), "7")
    raised(tributary.InvalidArgumentError, lambda: tributary.Communicator(log="loud"),
           "TRIBUTARY_LOG=loud is not error, warn or info")


def a_world_shrinks() -> None:
    old = tributary.Communicator(membership="elastic", stall_timeout=60)
    values = numpy.ones(COUNT)
    assert old.allreduce(values)[0] == 3 and old.membership["epoch"] == 1
    if old.rank == 1:
        os._exit(0)
    raised(tributary.MembershipEndedError, lambda: old.allreduce(values), "rank 1", "call regroup()")
    assert old.membership["ended"]
    with old.regroup() as comm:
        assert comm.allreduce(numpy.ones(COUNT))[0] == comm.size == 2
        assert comm.membership == {"epoch": 2, "newcomers": 0, "waiting": 0, "ended": False}
        raised(tributary.MembershipEndedError, old.barrier, "membership 1 has ended")
        if comm.rank == 1:
            time.sleep(4)
            return
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        raised(KeyboardInterrupt, comm.regroup)


CASES = {function.__name__: function for function in (
    types_and_operators, named_types, buffers, refused_buffers, refused_numbers, other_collectives, parts, requests,
    outstanding_requests, who_waits_is_in_nobodys_way, abandoned_requests, buffers_with_finalizers,
    closing_is_aborted,
    a_fork_while_a_thread_waits, awaited_requests, awaited_requests_take_no_threads,
    awaited_requests_let_the_loop_end, awaited_requests_fail, other_threads_run, interrupted, a_rank_dies,
    late_ranks_time_out, deadlines, any_of_several, handlers, sketches, gradient_hook, exchanges, colayers,
    sketched_exchanges,
    stale_gradients_are_dropped, other_threads_run_while_an_exchange_waits, what_applies_may_raise,
    exchange_interrupted, an_exchange_that_nobody_has_any_more, an_exchange_that_only_itself_refers_to,
    the_collector_runs_while_an_exchange_goes, the_collector_runs_while_an_exchange_comes, refused_exchanges,
    what_was_posted_is_awaited_beside_an_exchange, leaving, refused_options,
    a_world_shrinks)}
OF_THEIR_OWN = {"a_world_shrinks"}
SIZES = {"types_and_operators": 3, "other_collectives": 3, "parts": 4, "named_types": 3, "handlers": 3,
         "sketches": 3, "buffers_with_finalizers": 1, "the_collector_runs_while_an_exchange_goes": 1,
         "the_collector_runs_while_an_exchange_comes": 1, "gradient_hook": 3, "exchanges": 3,
         "colayers": 3}


class Package(ranks.Cases):
    def test_a_world_shrinks_at_its_keeper(self):
        place = f"127.0.0.1:{ranks.free_port()}"
        with subprocess.Popen([ranks.BUILD / "apps" / "tributary-keeper" / "tributary-keeper", "--listen", place],
                              stderr=subprocess.DEVNULL) as keeper:
            try:
                self.case("a_world_shrinks", 3, MASTER_PORT=place.split(":")[1])
            finally:
                keeper.kill()

    def test_a_variable_that_nothing_reads_is_said_once_by_rank_0(self):
        ended = ranks.run([sys.executable, ranks.ROOT / "docs" / "tutorial" / "allreduce.py"],
                          TRIBUTARY_ALGORITHM="auto", TRIBUTARY_TUNNE="off", TRIBUTARY_INTERFACES="lo")
        self.assertEqual([one.complaints.count("TRIBUTARY_TUNNE (is it TRIBUTARY_TUNE?)") for one in ended], [1, 0])
        self.assertEqual([one.complaints.count("TRIBUTARY_INTERFACES counts for nothing") for one in ended], [1, 0])

    def test_the_example_runs_as_the_tutorial_says(self):
        ended = ranks.run([sys.executable, ranks.ROOT / "docs" / "tutorial" / "allreduce.py"])
        self.assertEqual([(one.code, one.said) for one in ended],
                         [(0, "rank 0 of 2: 3.0\n"), (0, "rank 1 of 2: 3.0\n")], ended)


def _test_of(name: str):
    def test(self) -> None:
        self.case(name, SIZES.get(name, 2))
    return test


for _name in CASES.keys() - OF_THEIR_OWN:
    setattr(Package, f"test_{_name}", _test_of(_name))

if __name__ == "__main__":
    ranks.main(CASES)
