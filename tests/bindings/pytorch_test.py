#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The backend of torch.distributed: its collectives beside gloo's, and trainings."""

import argparse
import datetime
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import ranks

try:
    import torch
    import torch.distributed as dist
except ImportError:
    ranks.skip("needs PyTorch: tools/install-packages pytorch")
if not list(ranks.PACKAGE.glob("tributary/_torch*.so")):
    ranks.skip("the backend was not built: tools/install-packages pytorch, and meson setup --reconfigure")
sys.path.insert(0, str(ranks.PACKAGE))

TRAIN = ranks.ROOT / "examples" / "pytorch" / "train.py"
SKETCHED = TRAIN.with_name("train_sketched.py")
FASHION = ranks.pathlib.Path("/usr/share/datasets/fashion-mnist")
TORCHRUN = ranks.pathlib.Path("/usr/bin/torchrun")  # of the same Python
# No function of the script's own has its globals, and keeps them.
LIVES = """
import atexit
held = type("Held", (), {"__del__": eval("lambda self: print('gone')", {})})()
atexit.register(print, "at exit")
"""
COUNT = 1000
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
OPERATORS = (dist.ReduceOp.SUM, dist.ReduceOp.MIN, dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT)
BITWISE = (dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR)


def start(**more):
    """The default group over Tributary, and one of gloo to compare with."""
    import tributary.torch  # noqa: F401
    dist.init_process_group("tributary", **more)
    return dist.new_group(backend="gloo")


def raised(call, *words: str) -> None:
    try:
        call()
    except (RuntimeError, ValueError) as error:
        for word in words:
            assert re.search(word, str(error)), f"{word!r} is not in {error}"
        return
    raise AssertionError("no error")


def inputs(kind: torch.dtype, rank: int) -> torch.Tensor:
    """Small numbers, whose sums and products are exact in every type."""
    return (1 + (torch.arange(COUNT) + rank) % 2).to(kind)


def carried() -> int:
    import tributary.torch
    return tributary.torch.statistics("collectives_by_ring")


def expect_carried(count: int, call):
    before = carried()
    result = call()
    assert carried() - before == count, (carried(), before, count)
    return result


def reductions() -> None:
    """What gloo has, too, is the same; bytes and what has no operator go by gloo."""
    gloo = start()
    for kind in FLOATS + INTEGERS:
        for op in OPERATORS + (() if kind in FLOATS else BITWISE):
            ours = inputs(kind, dist.get_rank())
            by_gloo = kind == torch.uint8 and op in (dist.ReduceOp.MIN, dist.ReduceOp.MAX)
            expect_carried(0 if by_gloo else 1, lambda: dist.all_reduce(ours, op))
            if kind in (torch.bfloat16, torch.int16):  # gloo does not know them
                theirs = inputs(kind, dist.get_rank()).to(torch.int64)
                dist.all_reduce(theirs, op, group=gloo)
                theirs = theirs.to(kind)
            else:
                theirs = inputs(kind, dist.get_rank())
                dist.all_reduce(theirs, op, group=gloo)
            assert torch.equal(ours, theirs), (kind, op)
    high = torch.tensor([200, 3], dtype=torch.uint8)
    dist.all_reduce(high, dist.ReduceOp.MAX)
    assert list(high) == [200, 3]
    truths = torch.tensor([True, dist.get_rank() == 0, False])
    dist.all_reduce(truths, dist.ReduceOp.MAX)
    assert truths.tolist() == [True, True, False]
    truths = torch.tensor([True, dist.get_rank() == 0, False])
    expect_carried(1, lambda: dist.all_reduce(truths))  # what is true on any rank
    assert truths.tolist() == [True, True, False]
    mean = torch.tensor([1.0, dist.get_rank()])
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    assert mean.tolist() == [1.0, 0.5]
    complex_sum = torch.tensor([1 + 2j])
    dist.all_reduce(complex_sum)
    assert complex_sum.tolist() == [2 + 4j]
    raised(lambda: dist.all_reduce(torch.ones(2), dist.ReduceOp.BOR), "")


def layouts() -> None:
    """Elements that do not lie in order are carried all the same."""
    start()
    rank = dist.get_rank()
    turned = torch.arange(6.0).reshape(2, 3).t()
    dist.all_reduce(turned)
    assert torch.equal(turned, 2 * torch.arange(6.0).reshape(2, 3).t())
    column = torch.zeros(4, 4)
    column[:, 1] = rank
    dist.broadcast(column[:, 1], src=1)
    assert torch.equal(column[:, 1], torch.ones(4)) and column.sum() == 4
    # A rank's own matter: the others need not know.
    mixed = torch.ones(4, 4).t() if rank == 0 else torch.ones(4, 4)
    dist.all_reduce(mixed)
    assert torch.equal(mixed, torch.full((4, 4), 2.0))
    leaf = torch.ones(3, requires_grad=True)
    dist.all_reduce(leaf.detach())
    assert leaf.tolist() == [2, 2, 2]
    dist.all_reduce(torch.ones(0))
    # What is conjugated or negated is so by a bit, and not in memory.
    turned = torch.tensor([1 + 2j, 3 - 1j])
    got = turned.conj() if rank == 0 else torch.zeros(2, dtype=turned.dtype)
    dist.broadcast(got, src=0)
    assert got.tolist() == [1 - 2j, 3 + 1j]
    every = [torch.zeros(1), torch.zeros(1)]
    dist.all_gather(every, torch.tensor([1 + 2j]).conj().imag)
    assert [one.item() for one in every] == [-2, -2]
    # Sparse ones go by gloo, which has them.
    sparse = torch.sparse_coo_tensor([[rank]], [1.0], (4,))
    expect_carried(0, lambda: dist.all_reduce(sparse))
    assert sparse.to_dense().tolist() == [1, 1, 0, 0]


def inference() -> None:
    """Results are put into tensors of that mode, too."""
    start()
    rank, size = dist.get_rank(), dist.get_world_size()
    with torch.inference_mode():
        every = [torch.zeros(3) for _ in range(size)]
        dist.all_gather(every, torch.full((3,), float(rank)))
        assert [one[0].item() for one in every] == list(range(size))
        mean = torch.full((3,), float(rank))
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        assert mean.tolist() == [(size - 1) / 2] * 3
        turned = torch.ones(2, 3).t()
        dist.all_reduce(turned)
        assert (turned == size).all()
        objects = [None] * size
        dist.all_gather_object(objects, rank)
        assert objects == list(range(size))


def own_name_is_a_loopback_address() -> None:
    """As Debian's /etc/hosts has it: the address is another one, where the machine has one."""
    import socket

    import tributary.torch
    real = socket.getaddrinfo
    socket.getaddrinfo = lambda host, *more, **named: real(
        {"node0": "127.0.1.1"}.get(host, host), *more, **named)
    elsewhere = tributary.torch._address_towards(tributary.torch._ELSEWHERE)
    for master, expected in (("node0", elsewhere or "127.0.0.1"), ("localhost", "127.0.0.1"),
                             ("127.0.0.1", "127.0.0.1")):
        os.environ["MASTER_ADDR"] = master
        assert tributary.torch._local_address() == expected, (master, tributary.torch._local_address())


def other_collectives() -> None:
    gloo = start()
    rank, size = dist.get_rank(), dist.get_world_size()
    for kind in FLOATS + INTEGERS + (torch.bool, torch.complex64):
        sent = inputs(kind, rank)
        expect_carried(1, lambda: dist.broadcast(sent, src=1))
        assert torch.equal(sent, inputs(kind, 1)), kind
        every = [torch.zeros(COUNT, dtype=kind) for _ in range(size)]
        expect_carried(1, lambda: dist.all_gather(every, inputs(kind, rank)))
        assert all(torch.equal(one, inputs(kind, number)) for number, one in enumerate(every)), kind
    ours, theirs = inputs(torch.float32, rank), inputs(torch.float32, rank)
    expect_carried(1, lambda: dist.reduce(ours, dst=1))
    dist.reduce(theirs, dst=1, group=gloo)
    assert rank != 1 or torch.equal(ours, theirs)
    flat = torch.zeros(2 * size)
    expect_carried(1, lambda: dist.all_gather_into_tensor(flat, torch.full((2,), float(rank))))
    assert flat.tolist() == [float(number) for number in range(size) for _ in range(2)]
    part = torch.zeros(2)
    expect_carried(1, lambda: dist.reduce_scatter(part, [torch.full((2,), float(one)) for one in range(size)]))
    assert part.tolist() == [float(rank * size)] * 2
    expect_carried(1, lambda: dist.reduce_scatter_tensor(part, torch.arange(2.0 * size)))
    assert part.tolist() == [2.0 * rank * size, (2.0 * rank + 1) * size]
    several = [torch.ones(5), torch.full((3, 3), float(rank))]
    dist.all_reduce_coalesced(several)
    assert several[0].tolist() == [size] * 5 and (several[1] == sum(range(size))).all()
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert [one["rank"] for one in objects] == list(range(size))
    expect_carried(1, dist.barrier)
    expect_carried(0, lambda: _point_to_point(rank, size))
    raised(lambda: dist.all_gather([torch.zeros(2)], torch.zeros(2)), "as many tensors as there are ranks")


def _point_to_point(rank: int, size: int) -> None:
    """By gloo."""
    if rank == 0:
        dist.send(torch.full((3,), 7.0), dst=1)
    else:
        got = torch.zeros(3)
        assert dist.recv(got) == 0 and got.tolist() == [7, 7, 7]
    mine = [torch.zeros(1) for _ in range(size)] if rank == 0 else None
    dist.gather(torch.tensor([float(rank)]), mine, dst=0)
    assert mine is None or [one.item() for one in mine] == list(range(size))
    share = torch.zeros(1)
    dist.scatter(share, [torch.tensor([float(one)]) for one in range(size)] if rank == 0 else None, src=0)
    assert share.item() == rank
    swapped = torch.zeros(size)
    dist.all_to_all_single(swapped, torch.arange(float(size)) + 10 * rank)
    assert swapped.tolist() == [10.0 * one + rank for one in range(size)]


def several_in_flight() -> None:
    start()
    tensors = [torch.full((COUNT,), float(number)) for number in range(50)]
    works = [dist.all_reduce(one, async_op=True) for one in tensors]
    for number, work in reversed(list(enumerate(works))):
        assert work.wait() and work.is_completed() and work.is_success()
        assert (tensors[number] == 2.0 * number).all()
        assert work.get_future().value()[0].data_ptr() == tensors[number].data_ptr()
    # Of what hangs on a future, something may wait for the next collective itself.
    future = dist.all_reduce(torch.ones(1), async_op=True).get_future()
    for _ in range(3):
        future = future.then(_reduce_once_more)
    assert future.wait()[0].item() == 16


def _reduce_once_more(future):
    return dist.all_reduce(future.value()[0], async_op=True).get_future().wait()


def groups() -> None:
    """Those of some ranks; what is set up for the job is not for them."""
    os.environ["TRIBUTARY_JOB"] = "77"
    start()
    rank = dist.get_rank()
    even, odd = dist.new_group([0, 2]), dist.new_group([1, 3])
    ours = torch.tensor([float(rank)])
    dist.all_reduce(ours, group=even if rank % 2 == 0 else odd)
    assert ours.item() == (2 if rank % 2 == 0 else 4)
    dist.broadcast(ours, src=3, group=odd) if rank % 2 else None
    dist.destroy_process_group(even if rank % 2 == 0 else odd)
    single = dist.new_group([2])
    if rank == 2:
        dist.all_reduce(ours, group=single)
        assert ours.item() == 2
    port = [ranks.free_port()]
    dist.broadcast_object_list(port)
    dist.destroy_process_group()
    # And once more; c10d's store needs another place.
    os.environ["MASTER_PORT"] = str(port[0])
    dist.init_process_group("tributary")
    dist.barrier()


def ddp() -> None:
    """Parameters have the same bits on all ranks, and nearly those that gloo makes."""
    gloo = start()
    ours = _trained()
    every = [torch.zeros_like(ours) for _ in range(dist.get_world_size())]
    dist.all_gather(every, ours, group=gloo)
    assert all(torch.equal(one, ours) for one in every)
    assert torch.allclose(ours, _trained(gloo), atol=1e-5)


def _trained(group=None, steps: int = 20, hook=None, state=None, **more) -> torch.Tensor:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(40, 300), torch.nn.ReLU(), torch.nn.BatchNorm1d(300),
                                torch.nn.Linear(300, 5))
    parallel = torch.nn.parallel.DistributedDataParallel(
        model, process_group=group, **more or {"bucket_cap_mb": 0.02, "find_unused_parameters": True})
    if hook:
        parallel.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05)
    torch.manual_seed(2 + dist.get_rank())
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(parallel(torch.randn(16, 40)), torch.arange(16) % 5).backward()
        optimizer.step()
    return torch.cat([one.detach().flatten() for one in model.parameters()])


def _expect_roundings() -> None:
    """What is left to chance depends on the seed."""
    import tributary.torch
    for by_chance, more in ((False, {}), (True, {"rounding": "stochastic"}), (True, {"feedback": False}),
                            (False, {"feedback": False, "rounding": "nearest"})):
        one, other = (_trained(steps=3, hook=tributary.torch.sketch_hook(seed=seed, **more)) for seed in (1, 2))
        assert torch.equal(one, other) != by_chance, more


def hooks() -> None:
    """Gradients that are halved on the way, and a hook whose futures wait for others."""
    import tributary.torch
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
    start()
    plain = _trained()
    assert torch.allclose(plain, _trained(hook=default_hooks.fp16_compress_hook), atol=1e-2)
    assert torch.allclose(plain, _trained(hook=tributary.torch.compress_bf16), atol=5e-2)
    sketched = _trained(hook=tributary.torch.sketch_hook(bits=8))
    assert torch.allclose(plain, sketched, atol=5e-2)
    every = [torch.zeros_like(sketched) for _ in range(dist.get_world_size())]
    dist.all_gather(every, sketched)
    assert all(torch.equal(one, sketched) for one in every)
    for more in {"bits": 32, "low_rank": 2}, {"bits": 8, "low_rank": 2}, {"bits": 4}, {"kind": "quantiles"}:
        rounded = _trained(hook=tributary.torch.sketch_hook(**more))
        dist.all_gather(every, rounded)
        assert all(torch.equal(one, rounded) for one in every), more
    _expect_roundings()
    # Such a hook has one bucket: those of two would come in different orders on different ranks.
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=4)
    reduced = _trained(hook=powerSGD_hook.powerSGD_hook, state=state, bucket_cap_mb=25)
    every = [torch.zeros_like(reduced) for _ in range(dist.get_world_size())]
    dist.all_gather(every, reduced)
    assert all(torch.equal(one, reduced) for one in every)


def _trained_loosely(steps: int = 20, pause_s: float = 0, make=None, **options):
    """As _trained() is, but that ranks go on by themselves; and what the exchange counted."""
    import tributary.torch
    torch.manual_seed(1 + (0 if make is None else dist.get_rank()))  # all begin with what rank 0 has
    model = torch.nn.Sequential(torch.nn.Linear(40, 300), torch.nn.ReLU(), torch.nn.BatchNorm1d(300),
                                torch.nn.Linear(300, 5))
    unused = torch.nn.Parameter(torch.ones(3))
    rank = float(dist.get_rank())
    frozen = torch.nn.Parameter(torch.full((3, 2), rank).to(torch.bfloat16).t(), requires_grad=False)
    frozen.grad = torch.ones_like(frozen)  # as of a pretraining
    make = make or (lambda parameters: torch.optim.SGD(parameters, lr=0.05))
    torch.manual_seed(2 + dist.get_rank())
    with tributary.torch.loose_optimizer(make([*model.parameters(), unused, frozen]), **options) as optimizer:
        for _ in range(steps):
            optimizer.zero_grad()
            time.sleep(pause_s)
            torch.nn.functional.cross_entropy(model(torch.randn(16, 40)), torch.arange(16) % 5).backward()
            optimizer.step()
    assert unused.tolist() == [1, 1, 1]
    assert frozen.tolist() == [[0, 0, 0], [0, 0, 0]]
    return torch.cat([one.detach().flatten() for one in model.parameters()]), optimizer.exchange


def _expect_alike(parameters: torch.Tensor) -> None:
    every = [torch.zeros_like(parameters) for _ in range(dist.get_world_size())]
    dist.all_gather(every, parameters)
    assert all(torch.equal(one, parameters) for one in every)


def loose_training() -> None:
    """BSP trains as DDP does; with SSP and ASP a fast rank does not wait in every step, and replicas are alike."""
    start()
    plain = _trained()
    together, exchange = _trained_loosely(synchrony="bsp")
    _expect_alike(together)
    assert torch.allclose(plain, together, atol=1e-5), (plain - together).abs().max()
    everybody = list(range(dist.get_world_size()))
    assert all(ranks == everybody for row in exchange.gei().values() for ranks in row)
    weights = torch.nn.Parameter(torch.zeros(4))
    import tributary.torch
    with tributary.torch.loose_optimizer(torch.optim.Adam([weights], lr=0.1),
                                         schedule=lambda iteration: 0.2 if iteration == 7 else 1) as optimizer:
        optimizer._apply(0, memoryview(torch.ones(4).numpy()), [1], 6)  # of one of two ranks: half of a step
        assert torch.allclose(weights, torch.full((4,), -0.05), atol=1e-4), weights
        optimizer._apply(0, memoryview(torch.full((4,), 2.0).numpy()), [0, 1], 7)  # at a fifth of the rate
        assert torch.allclose(weights, torch.full((4,), -0.07), atol=1e-4), weights
        assert optimizer.optimizer.param_groups[0]["lr"] == 0.1
    sketched, exchange = _trained_loosely(synchrony="bsp", bits=8)
    _expect_alike(sketched)
    assert 0 < (plain - sketched).abs().max() < 0.02, (plain - sketched).abs().max()
    slow = 0.02 if dist.get_rank() == 1 else 0

    def adam(parameters):
        return torch.optim.Adam(parameters, lr=1e-3)

    for options in {"synchrony": "ssp", "staleness": 2, "make": adam}, {"synchrony": "asp"}:
        # Of one rank more steps than of the other.
        trained, exchange = _trained_loosely(20 - 5 * dist.get_rank(), slow, **options)
        _expect_alike(trained)
        assert exchange.statistics("layers_summed") > 20 * 7, options  # not everybody in every sum
        assert exchange.statistics("layers_contributed") == (20 - 5 * dist.get_rank()) * 7


def refused_loose_training() -> None:
    start()
    import tributary.torch
    weights = torch.nn.Parameter(torch.ones(3))
    raised(lambda: tributary.torch.loose_optimizer(torch.optim.SGD([weights], lr=1), synchrony="sync"), "sync")
    doubles = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
    try:
        tributary.torch.loose_optimizer(torch.optim.SGD([doubles], lr=1))
        raise AssertionError("no error")
    except TypeError as error:
        assert "float64" in str(error)
    with tributary.torch.loose_optimizer(torch.optim.SGD([weights], lr=1)) as optimizer:
        raised(optimizer.step, "zero_grad.. begins")
        raised((weights * 2).sum().backward, "zero_grad.. begins")
        optimizer.zero_grad()
        raised(optimizer.zero_grad, "step.. ends")
        (weights * 2).sum().backward()
        assert optimizer.step()
    assert weights.tolist() == [-1, -1, -1]
    try:
        with tributary.torch.loose_optimizer(torch.optim.SGD([weights], lr=1)):
            dist.barrier()  # else others may still be about to create theirs
            raise KeyError("of the script itself")
    except KeyError:
        (weights * 2).sum().backward()  # the model is trained on without the others
    unfrozen = torch.nn.Parameter(torch.ones(3), requires_grad=False)
    optimizer = tributary.torch.loose_optimizer(torch.optim.SGD([weights, unfrozen], lr=1))
    unfrozen.requires_grad_()
    raised(optimizer.zero_grad, "other parameters .* require gradients")
    optimizer.close()
    weights.grad = torch.ones(3)
    before = weights.tolist()
    for remembers in (torch.optim.SGD([weights], lr=1, momentum=0.5), torch.optim.Adam([weights], lr=1),
                      torch.optim.Adagrad([weights], lr=1)):
        for option in ({"synchrony": "asp"}, {"synchrony": "ssp", "stale": "drop"}):
            raised(lambda: tributary.torch.loose_optimizer(remembers, **option), "SGD without momentum")
    momentum = 0.5 if dist.get_rank() == 1 else 0
    differs = torch.optim.SGD([weights], lr=1, momentum=momentum)
    raised(lambda: tributary.torch.loose_optimizer(differs, synchrony="asp"),
           "SGD without momentum" if momentum else "own error says why it cannot be on rank 1$")
    assert weights.tolist() == before and weights.grad.tolist() == [1, 1, 1]
    plain = torch.optim.SGD([weights], lr=1)
    with tributary.torch.loose_optimizer(plain, synchrony="asp"):
        assert plain.param_groups[0]["params"][0] is weights and not plain.state


def a_rank_dies() -> None:
    """The others learn it long before the group's time limit."""
    start(timeout=datetime.timedelta(minutes=20))
    dist.all_reduce(torch.ones(1))
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    raised(lambda: dist.all_reduce(torch.ones(COUNT)), "all_reduce of 1000 Float .sum. on rank . of 3 failed")


def late_ranks_time_out() -> None:
    start(timeout=datetime.timedelta(seconds=8))
    if dist.get_rank() == 1:
        time.sleep(16)
        return
    raised(dist.barrier, "barrier on rank 0 of 2 failed: TRIBUTARY_TIMEOUT", "8 s")


def monitored_barriers() -> None:
    """Rank 0 says who has not come."""
    import tributary.torch
    start()
    tributary.torch.monitored_barrier()
    if dist.get_rank() == 1:
        time.sleep(12)
        return
    limit = datetime.timedelta(seconds=4)
    raised(lambda: tributary.torch.monitored_barrier(timeout=limit, wait_all_ranks=True),
           "Ranks? 1 failed to pass monitoredBarrier in 4000 ms" if dist.get_rank() == 0 else "")


class Bucket:
    """As much of DDP's as a hook of sketches touches."""

    def __init__(self):
        self.flat = torch.ones(COUNT)

    def buffer(self) -> torch.Tensor:
        return self.flat

    def gradients(self) -> list:
        return [self.flat]

    def index(self) -> int:
        return 0

    def parameters(self) -> list:
        return []


def late_sketches_time_out() -> None:
    """By the group's time limit."""
    start(timeout=datetime.timedelta(seconds=8))
    import tributary.torch
    hook = tributary.torch.sketch_hook()
    if dist.get_rank() == 1:
        time.sleep(16)
        return
    raised(lambda: hook(None, Bucket()).wait(), "a sketched sum of 1000 elements on rank 0 of 2 failed: ", "8 s")


def late_sketches_time_out_beside_gloo() -> None:
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=8))
    import tributary.torch
    hook = tributary.torch.sketch_hook()
    if dist.get_rank() == 1:
        time.sleep(16)
        return
    raised(lambda: hook(None, Bucket()).wait(), "a sketched sum of 1000 elements on rank 0 of 2 failed: ", "8 s")


def refused() -> None:
    import tributary.torch
    os.environ["TRIBUTARY_ALGORITHM"] = "bus" if os.environ["RANK"] == "1" else "ring"
    raised(lambda: dist.init_process_group("tributary"), "TRIBUTARY_ALGORITHM=bus")
    raised(lambda: tributary.torch.algorithm(None), "")


def left_in_disorder() -> None:
    """What nobody has waited for does not keep a script from its end."""
    start(timeout=datetime.timedelta(minutes=20))
    if dist.get_rank() == 0:
        dist.all_reduce(torch.ones(COUNT), async_op=True)


def left_in_disorder_with_a_callback() -> None:
    """Which waits for what nobody else comes to."""
    start(timeout=datetime.timedelta(minutes=20))
    if dist.get_rank() == 0:
        first = dist.all_reduce(torch.ones(COUNT), async_op=True)
        first.get_future().then(lambda _: second.wait())
        second = dist.all_reduce(torch.ones(COUNT), async_op=True)
    else:
        raised(lambda: dist.recv(torch.zeros(1), src=0), "")  # ends with rank 0's process


def sketches_left_in_disorder() -> None:
    """Neither do sketches, which another thread waits for."""
    start(timeout=datetime.timedelta(minutes=20))
    import tributary.torch
    hook = tributary.torch.sketch_hook()
    if dist.get_rank() == 0:
        hook(None, Bucket())
    else:
        raised(lambda: dist.recv(torch.zeros(1), src=0), "")  # ends with rank 0's process


def figures_keep_nobody() -> None:
    """Rank 1 comes to the first sum when rank 0 has posted the second one, while a thread asks for figures."""
    start(timeout=datetime.timedelta(seconds=60))
    rank = dist.get_rank()
    if rank == 1:
        dist.recv(torch.zeros(1), src=0)
    first = dist.all_reduce(torch.ones(COUNT), async_op=True)
    if rank == 0:
        threading.Thread(target=carried, daemon=True).start()
        time.sleep(0.5)
    second = dist.all_reduce(torch.ones(COUNT), async_op=True)
    if rank == 0:
        dist.send(torch.zeros(1), dst=1)
    first.wait()
    second.wait()


def averages_that_cannot_be_asked_for() -> None:
    """The error leaves no group open."""
    start(timeout=datetime.timedelta(seconds=60))
    several = [torch.ones(2), torch.ones(3)]
    raised(lambda: dist.all_reduce_coalesced(several, dist.ReduceOp.AVG), "by how many ranks", "INTERNAL")
    raised(lambda: dist.all_reduce(several[0], dist.ReduceOp.AVG), "by how many ranks")
    others = [torch.ones(2), torch.ones(3)]
    dist.all_reduce_coalesced(others)
    assert [tensor.unique().tolist() for tensor in others] == [[2.0], [2.0]], others


CASES = {function.__name__: function for function in (
    reductions, layouts, inference, own_name_is_a_loopback_address, other_collectives, several_in_flight,
    groups, ddp, hooks, loose_training, refused_loose_training, a_rank_dies, late_ranks_time_out,
    monitored_barriers, late_sketches_time_out, late_sketches_time_out_beside_gloo, refused, left_in_disorder,
    left_in_disorder_with_a_callback, sketches_left_in_disorder, figures_keep_nobody,
    averages_that_cannot_be_asked_for)}
SIZES = {"groups": 4, "monitored_barriers": 3}
DEAF = ranks.BUILD / "tests" / "bindings" / "libdeaf.so"


class Backend(ranks.Cases):
    def test_a_rank_dies(self):
        ended = ranks.run([sys.executable, ranks.pathlib.Path(__file__).resolve(), "a_rank_dies"], 3)
        self.assertEqual([one.code for one in ended], [0, -signal.SIGKILL, 0], ended)

    def test_averages_that_cannot_be_asked_for(self):
        self.case("averages_that_cannot_be_asked_for", LD_PRELOAD=str(DEAF))

    def train(self, *arguments: str, module: tuple[str, ...] = ("-m", "tributary.torch"),
              script: ranks.pathlib.Path = TRAIN) -> list[str]:
        """What each rank prints."""
        ended = ranks.run([sys.executable, *module, script, "--steps", "40", *arguments])
        for one in ended:
            self.assertEqual(one.code, 0, one.said + one.complaints)
        return [one.said for one in ended]

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_the_example_trains_as_it_does_over_gloo(self):
        said = self.train()
        digests = [re.search(r"parameters (\w+)", one)[1] for one in said]
        self.assertEqual(digests[0], digests[1])
        by_gloo = self.train("--backend", "gloo", module=())
        self.assertAlmostEqual(_accuracy(said[0]), _accuracy(by_gloo[0]), delta=0.1)

    def test_the_example_knows_nothing_but_the_backends_name(self):
        self.assertEqual(re.findall(r"(?i).*tributary.*", TRAIN.read_text()),
                         ['    parser.add_argument("--backend", default="tributary",'])

    def assert_says(self, script_text: str, said: str) -> None:
        """A script that the package starts."""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(script_text)
            script.flush()
            done = subprocess.run(
                [sys.executable, "-m", "tributary.torch", script.name], text=True, capture_output=True,
                timeout=ranks.PATIENCE_S, env=os.environ | {"PYTHONPATH": str(ranks.PACKAGE)})
        self.assertEqual((done.returncode, done.stdout), (0, said), done.stderr)

    def test_a_script_that_the_package_starts_finds_it_by_its_name(self):
        self.assert_says("import tributary.torch\nprint(tributary.torch.sketch_hook.__name__)\n", "sketch_hook\n")

    def test_what_a_script_has_lives_until_python_ends(self):
        """Else a training over gloo may hang in its end."""
        self.assert_says(LIVES, "at exit\ngone\n")

    @unittest.skipUnless(FASHION.is_dir() and TORCHRUN.is_file(), "needs torchrun, and dataset-fashion-mnist")
    def test_torchrun_starts_the_example(self):
        """As docs/operate/pytorch.md has it."""
        done = subprocess.run(
            [TORCHRUN, "-r", "1", "-t", "1", "--master_port", str(ranks.free_port()), "--nproc_per_node", "2",
             "-m", "tributary.torch", TRAIN, "--steps", "10"], text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=ranks.PATIENCE_S,
            env=os.environ | {"PYTHONPATH": str(ranks.PACKAGE), "OMP_NUM_THREADS": "1", "TRIBUTARY_ALGORITHM": "ring"})
        self.assertEqual(done.returncode, 0, done.stdout)
        digests = re.findall(r"parameters (\w+)", done.stdout)
        self.assertEqual((len(digests), len(set(digests))), (2, 1), done.stdout)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_the_example_trains_a_wide_network(self):
        said = self.train("--model", "mlp", "--width", "256")
        self.assertGreater(_accuracy(said[0]), 0.6)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_the_example_trains_networks_of_papers(self):
        for model in ("alexnet", "vgg", "resnet"):
            with self.subTest(model):
                said = self.train("--model", model, "--steps", "6", "--evaluate-every", "2",
                                  "--hook", "sketch", "--sketched", "50", script=SKETCHED)
                self.assertEqual(len({re.search(r"parameters (\w+)", one)[1] for one in said}), 1, said)
                told = re.findall(r"step (\d): accuracy 0\.\d+ after [0-9.]+ s", said[0])
                self.assertEqual(told, ["2", "4", "6"], said[0])

    def test_the_rate_of_the_example_falls(self):
        sys.path.insert(0, str(TRAIN.parent))
        import train
        for schedule, expected in (("step", [0.08, 0.08, 0.016, 0.016, 0.0032, 0.0032, 0.00064, 0.00064]),
                                   ("cosine", [0.08, 0.076955, 0.068284, 0.055307, 0.04, 0.024693, 0.011716, 0.003045]),
                                   ("constant", 8 * [0.08])):
            options = argparse.Namespace(optimizer="sgd", learning_rate=0.08, schedule=schedule, steps=8)
            optimizer = train.optimizer_of(torch.nn.Linear(1, 1), options)
            rates = train.rates_of(optimizer, options)
            seen = []
            for _ in range(options.steps):
                seen.append(round(optimizer.param_groups[0]["lr"], 6))
                optimizer.step()
                rates.step()
            self.assertEqual(seen, expected, schedule)
            self.assertEqual(train.rate_factor(options, 16), train.rate_factor(options, 8), "behind the last step")

    def test_the_rate_of_the_example_is_that_of_its_optimizer(self):
        sys.path.insert(0, str(TRAIN.parent))
        import train_sketched
        for arguments, rate in ("", 1e-3), ("--loose ssp", 1e-3), ("--loose asp", 0.05), ("--optimizer sgd", 0.05):
            with self.subTest(arguments=arguments), mock.patch("sys.argv", ["train", *arguments.split()]):
                self.assertEqual(train_sketched.checked(train_sketched.arguments()).learning_rate, rate)

    def test_the_examples_check_their_options_at_the_start(self):
        sys.path.insert(0, str(TRAIN.parent))
        import train_sketched
        for arguments, why in (("--loose drop --optimizer adam", "goes by --optimizer sgd"),
                               ("--loose asp --optimizer adam", "goes by --optimizer sgd"),
                               ("--hook sketch --bits 7", "choose from 4, 8, 16, 32"),
                               ("--hook sketch --bits 32", "give 4, 8 or 16"),
                               ("--steps 0", "--steps 0: give 1 or more"),
                               ("--staleness -1", "--staleness -1: give 0 or more")):
            with (self.subTest(arguments=arguments), mock.patch("sys.argv", ["train", *arguments.split()]),
                  mock.patch("sys.stderr", io.StringIO()) as said, self.assertRaises(SystemExit)):
                train_sketched.checked(train_sketched.arguments())
            self.assertIn(why, said.getvalue())
        with mock.patch("sys.argv", ["train", *"--hook sketch --bits 32 --low-rank 4".split()]):
            train_sketched.checked(train_sketched.arguments())

    def test_the_examples_say_what_they_lack(self):
        for script in SKETCHED, TRAIN.with_name("layers.py"):
            done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True,
                                  env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"})
            if done.returncode != 0:  # unless the package is installed
                self.assertIn("PYTHONPATH=$PWD/build/src/bindings/python", done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_the_example_trains_by_sgd_at_a_rate_that_falls(self):
        for more in ["--hook", "sketch"], ["--loose", "bsp"]:
            with self.subTest(more=more):
                said = [self.train("--optimizer", "sgd", "--schedule", schedule, *more, script=SKETCHED)
                        for schedule in ("constant", "cosine")]
                constant, falling = (re.search(r"parameters (\w+)", one[0])[1] for one in said)
                self.assertNotEqual(constant, falling, said)
                self.assertGreater(_accuracy(said[1][0]), 0.3)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_the_example_trains_loosely(self):
        # How many gradients are dropped is the machine's; by chance one picture in ten is told.
        for least, how, *more in ([0.5, "ssp"], [0.5, "ssp", "--bits", "8"], [0.2, "asp", "--learning-rate", "0.3"],
                                [0.2, "drop", "--learning-rate", "0.3"]):
            with self.subTest(how=how, more=more):
                said = self.train("--loose", how, "--staleness", "2", *more, script=SKETCHED)
                self.assertEqual(len({re.search(r"parameters (\w+)", one)[1] for one in said}), 1, said)
                self.assertGreater(_accuracy(said[0]), least)


def _accuracy(said: str) -> float:
    return float(re.search(r"accuracy ([0-9.]+)", said)[1])


def _test_of(name: str):
    def test(self) -> None:
        self.case(name, SIZES.get(name, 2))
    return test


for _name in CASES:
    if not hasattr(Backend, f"test_{_name}"):
        setattr(Backend, f"test_{_name}", _test_of(_name))

if __name__ == "__main__":
    ranks.main(CASES)
