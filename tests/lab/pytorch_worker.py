# SPDX-License-Identifier: BSD-3-Clause
"""A rank of pytorch_test.py: pytorch_worker.py sums|averages|die."""

import datetime
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
import tributary.torch

FIGURES = ("switch_sums_seen", "blocks_in_network", "blocks_by_hosts")
# Beyond all patience: what ends within that time was not ended by it.
LIMIT = datetime.timedelta(hours=2)


def sums() -> None:
    """Rank 0 prints what all ranks have counted."""
    size = dist.get_world_size()
    for kind in (torch.float32, torch.float16, torch.bfloat16, torch.int64):
        tensors = [torch.full((20_000 + number,), number + dist.get_rank()).to(kind) for number in range(8)]
        works = [dist.all_reduce(one, async_op=True) for one in tensors]
        for number, work in enumerate(works):
            work.wait()
            expected = number * size + sum(range(size))
            assert torch.equal(tensors[number], torch.full_like(tensors[number], expected)), (kind, number)
    counted = torch.tensor([tributary.torch.statistics(name) for name in FIGURES])
    dist.all_reduce(counted)
    if dist.get_rank() == 0:
        print(json.dumps({"algorithm": tributary.torch.algorithm(),
                          "statistics": dict(zip(FIGURES, counted.tolist()))}))


def averages() -> None:
    """The last rank is late, and not in the first ones: they are divided by the ranks that are in them."""
    rank, size = dist.get_rank(), dist.get_world_size()
    dist.barrier()
    if rank == size - 1:
        time.sleep(1)
    # Each of those in flight has an answer of its own.
    vectors = [torch.full((20_000 + number,), 2.0 ** rank) for number in range(4)]
    works = [dist.all_reduce(one, dist.ReduceOp.AVG, async_op=True) for one in vectors]
    everybody = sum(2 ** one for one in range(size))
    right = torch.tensor([everybody / size] + [(everybody - 2 ** one) / (size - 1) for one in range(size)])
    for work, vector in zip(works, vectors):
        work.wait()
        assert torch.isin(vector, right).all(), vector.unique()
    assert (vectors[0] < right[0]).any(), "nobody was late"
    parts = torch.full((size * 3000,), 2.0 ** rank)
    part = torch.empty(3000)
    dist.reduce_scatter_tensor(part, parts, dist.ReduceOp.AVG)
    assert torch.isin(part, right).all(), part.unique()
    dist.barrier()


def die() -> None:
    """The last rank does, and the others say what they are told."""
    dist.barrier()
    if dist.get_rank() == dist.get_world_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    began = time.monotonic()
    try:
        dist.all_reduce(torch.ones(100_000))
    except RuntimeError as error:
        print(f"after {time.monotonic() - began:.0f} s: {error}", file=sys.stderr)
        return
    raise AssertionError("a sum of ranks that are not there")


dist.init_process_group("tributary", timeout=LIMIT)
{"sums": sums, "averages": averages, "die": die}[sys.argv[1]]()
dist.destroy_process_group()
