# SPDX-License-Identifier: BSD-3-Clause
"""A training that knows gloo and nothing else: tests run it over Tributary as it is."""

import hashlib
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(40, 300), torch.nn.ReLU(), torch.nn.Linear(300, 5)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(torch.randn(16, 40)), torch.arange(16) % 5).backward()
    optimizer.step()
dist.monitored_barrier()
others = dist.new_group(list(range(1, size)), backend="gloo")
if rank != 0:
    dist.barrier(group=others)
ranks = [None] * size
dist.all_gather_object(ranks, rank)
parameters = hashlib.sha256(b"".join(one.detach().numpy().tobytes() for one in model.parameters())).hexdigest()[:16]
print(f"{dist.get_backend()}: rank {rank} of {ranks}, {os.environ.get('LOCAL_RANK')} here, parameters {parameters}")
dist.destroy_process_group()
