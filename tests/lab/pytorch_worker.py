# SPDX-License-Identifier: BSD-3-Clause
"""A rank of pytorch_test.py: pytorch_worker.py sums|die."""

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
{"sums": sums, "die": die}[sys.argv[1]]()
dist.destroy_process_group()
