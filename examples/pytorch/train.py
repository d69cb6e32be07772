# SPDX-License-Identifier: BSD-3-Clause
"""Trains a small network on Fashion-MNIST with DistributedDataParallel.

Each rank is started with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun does it.
"""

import argparse
import contextlib
import gzip
import hashlib
import pathlib
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

import models

SOME = 2000  # pictures tell the accuracy in the course of a training


def images(folder: pathlib.Path, name: str) -> torch.Tensor:
    content = bytearray(gzip.decompress((folder / f"{name}-images-idx3-ubyte.gz").read_bytes()))
    pixels = torch.frombuffer(content, dtype=torch.uint8, offset=16)
    return pixels.reshape(-1, 1, 28, 28).float() / 255 - 0.5


def labels(folder: pathlib.Path, name: str) -> torch.Tensor:
    content = bytearray(gzip.decompress((folder / f"{name}-labels-idx1-ubyte.gz").read_bytes()))
    return torch.frombuffer(content, dtype=torch.uint8, offset=8).long()


def digest(model: nn.Module) -> str:
    """The same on all ranks, if their parameters have the same bits."""
    summed = hashlib.sha256()
    for parameter in model.parameters():
        summed.update(parameter.detach().numpy().tobytes())
    return summed.hexdigest()[:16]


@torch.no_grad()
def accuracy(model: nn.Module, data: torch.Tensor, truth: torch.Tensor) -> float:
    model.eval()
    right = sum((model(data[at:at + 500]).argmax(1) == truth[at:at + 500]).sum().item()
                for at in range(0, len(data), 500))
    model.train()
    return right / len(data)


def in_some_steps(hook, percent: int):
    """A hook that calls the other one in so many of a hundred steps, and sums gradients as they are in the rest."""
    step = 0

    def called(state, bucket):
        nonlocal step
        chosen = hook if (step + 1) * percent // 100 > step * percent // 100 else allreduce_hook
        step += bucket.is_last()
        return chosen(state, bucket)
    return called


def add_hook(parallel: DistributedDataParallel, options) -> None:
    """Has gradients go as fewer bytes than they have."""
    if options.hook == "bf16":
        from tributary.torch import compress_bf16
        parallel.register_comm_hook(None, compress_bf16)
    elif options.hook == "sketch":
        from tributary.torch import sketch_hook
        hook = sketch_hook(bits=options.bits, low_rank=options.low_rank, rounding=options.rounding)
        parallel.register_comm_hook(None, hook if options.sketched == 100 else in_some_steps(hook, options.sketched))


def bytes_sent(interfaces: str) -> int:
    """By this machine, or this network namespace, since it has those interfaces."""
    lines = pathlib.Path("/proc/self/net/dev").read_text().splitlines()
    sent = {name.strip(): int(counters.split()[8])
            for name, colon, counters in (line.partition(":") for line in lines) if colon}
    for interface in interfaces.split(","):
        if interface not in sent:
            raise SystemExit(f"--interface {interface}: there is no such interface here")
    return sum(sent[interface] for interface in interfaces.split(","))


def step_by_step(model: nn.Module, options):
    """What is called for its outputs, and the optimizer; DDP, or ranks at speeds of their own."""
    if options.loose == "none":
        parallel = DistributedDataParallel(model)
        add_hook(parallel, options)
        return parallel, torch.optim.Adam(parallel.parameters(), lr=options.learning_rate)
    from tributary.torch import loose_optimizer
    adam = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    return model, loose_optimizer(adam, synchrony=options.loose, staleness=options.staleness,
                                  bits=options.bits, rounding=options.rounding)


def tell(model: nn.Module, steps: list[float], losses: list[float], unseen, options) -> None:
    if len(steps) % options.say_every == 0:
        print(f"step {len(steps)}: loss {losses[-1]:.3f}", flush=True)
    if options.evaluate_every and len(steps) % options.evaluate_every == 0:
        print(f"step {len(steps)}: accuracy {accuracy(model, *unseen):.4f} after {sum(steps):.2f} s", flush=True)


def train(model: nn.Module, data: torch.Tensor, truth: torch.Tensor, unseen,
          options) -> tuple[list[float], list[float], int]:
    """Seconds of each step, this rank's losses, and the bytes that it sent meanwhile."""
    parallel, optimizer = step_by_step(model, options)
    mine = torch.utils.data.distributed.DistributedSampler(
        torch.utils.data.TensorDataset(data, truth), seed=options.seed)
    steps: list[float] = []
    losses: list[float] = []
    sent = bytes_sent(options.interface) if options.interface else 0
    while len(steps) < options.steps:
        mine.set_epoch(len(steps))
        for batch in torch.tensor(list(mine)).split(options.batch)[:options.steps - len(steps)]:
            began = time.perf_counter()
            optimizer.zero_grad()
            with parallel.no_sync() if options.no_sync else contextlib.nullcontext():
                loss = nn.functional.cross_entropy(parallel(data[batch]), truth[batch])
                loss.backward()
            optimizer.step()
            steps.append(time.perf_counter() - began)
            losses.append(loss.item())
            if dist.get_rank() == 0:
                tell(model, steps, losses, unseen, options)
    if options.loose != "none":
        optimizer.close()
    return steps, losses, bytes_sent(options.interface) - sent if options.interface else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="tributary")
    parser.add_argument("--model", choices=models.MODELS, default="cnn")
    parser.add_argument("--width", type=int, default=512, help="of the layers of mlp")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=64, help="images per rank and step")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--say-every", type=int, default=50, metavar="STEPS", help="how often rank 0 tells its loss")
    parser.add_argument("--evaluate-every", type=int, default=0, metavar="STEPS",
                        help="how often rank 0 tells the accuracy, and the time that its steps have taken; the other "
                        "ranks wait for it meanwhile (default: in the end only)")
    parser.add_argument("--hook", choices=["none", "bf16", "sketch"], default="none",
                        help="by which gradients go as fewer bytes")
    parser.add_argument("--bits", type=int, help="of --hook sketch (default: 8), or of the gradients of --loose "
                        "(default: 32)")
    parser.add_argument("--rounding", choices=["stochastic", "nearest"], help="to --bits (default: stochastic)")
    parser.add_argument("--low-rank", type=int, default=0, help="of --hook sketch")
    parser.add_argument("--sketched", type=int, default=100, metavar="PERCENT", help="of the steps, by --hook sketch")
    parser.add_argument("--loose", choices=["none", "bsp", "ssp"], default="none",
                        help="how ranks that go on by themselves are kept together, without DDP and hooks")
    parser.add_argument("--staleness", type=int, default=3, help="of --loose ssp: how many steps they may be apart")
    parser.add_argument("--no-sync", action="store_true",
                        help="exchange no gradients, to see how long the rest of a step takes")
    parser.add_argument("--interface", help="whose bytes are counted, or those of several, with commas between")
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
    options = parser.parse_args()
    if options.say_every < 1:
        parser.error(f"--say-every {options.say_every}: give 1 or more steps")
    if options.evaluate_every < 0:
        parser.error(f"--evaluate-every {options.evaluate_every}: give 1 or more steps")
    if options.loose != "none" and options.hook != "none":
        parser.error("--loose goes without --hook: its ranks exchange gradients by themselves")
    if options.hook != "sketch" and (options.low_rank, options.sketched) != (0, 100):
        parser.error("--low-rank and --sketched are of --hook sketch")
    if options.bits is not None and options.hook != "sketch" and options.loose == "none":
        parser.error("--bits is of --hook sketch, or of --loose")
    if options.rounding and options.hook != "sketch" and options.bits is None:
        parser.error("--rounding goes with --hook sketch, or with --bits")
    options.rounding = options.rounding or "stochastic"
    if options.bits is None:
        options.bits = 8 if options.hook == "sketch" else 32
    if not 0 <= options.sketched <= 100:
        parser.error(f"--sketched {options.sketched}: give 0 to 100 percent of the steps")
    if options.no_sync and (options.hook, options.loose) != ("none", "none"):
        parser.error("--no-sync goes with neither --hook nor --loose, which exchange gradients")

    dist.init_process_group(options.backend)
    torch.manual_seed(options.seed)
    model = models.of_name(options.model, options.width)
    pictures, truth = images(options.data, "t10k"), labels(options.data, "t10k")
    steps, losses, sent = train(model, images(options.data, "train"), labels(options.data, "train"),
                                (pictures[:SOME], truth[:SOME]), options)
    score = accuracy(model, pictures, truth)
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}: accuracy {score:.4f}, "
          f"loss {statistics.mean(losses[-20:]):.3f}, {statistics.median(steps) * 1e3:.1f} ms per step, "
          + (f"{sent / len(steps) / 1e3:.1f} kB sent per step, " if options.interface else "")
          + f"parameters {digest(model)}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
