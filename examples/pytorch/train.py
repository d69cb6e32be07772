# SPDX-License-Identifier: BSD-3-Clause
"""Trains a small network on Fashion-MNIST with DistributedDataParallel.

Each rank is started with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun does it.
"""

import argparse
import dataclasses
import functools
import gzip
import hashlib
import math
import pathlib
import statistics
import time

import needs

needs.require("torch")

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import models

SOME = 2000  # pictures tell the accuracy in the course of a training
RATES = {"adam": 1e-3, "sgd": 0.05}
# What a rate is multiplied by, when so much of the training is done.
SCHEDULES = {
    "constant": lambda done: 1.0,
    "step": lambda done: 0.2 ** int(4 * done),
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
}


def images(folder: pathlib.Path, name: str) -> torch.Tensor:
    content = bytearray(gzip.decompress((folder / f"{name}-images-idx3-ubyte.gz").read_bytes()))
    pixels = torch.frombuffer(content, dtype=torch.uint8, offset=16)
    return pixels.reshape(-1, 1, 28, 28).float() / 255 - 0.5


def labels(folder: pathlib.Path, name: str) -> torch.Tensor:
    content = bytearray(gzip.decompress((folder / f"{name}-labels-idx1-ubyte.gz").read_bytes()))
    return torch.frombuffer(content, dtype=torch.uint8, offset=8).long()


@dataclasses.dataclass
class Pictures:
    """With the class of each."""
    data: torch.Tensor
    truth: torch.Tensor

    @classmethod
    def read(cls, folder: pathlib.Path, name: str) -> "Pictures":
        return cls(images(folder, name), labels(folder, name))


def digest(model: nn.Module) -> str:
    """The same on all ranks, if their parameters have the same bits."""
    summed = hashlib.sha256()
    for parameter in model.parameters():
        summed.update(parameter.detach().numpy().tobytes())
    return summed.hexdigest()[:16]


@torch.no_grad()
def accuracy(model: nn.Module, pictures: Pictures, count: int) -> float:
    """On so many of the pictures, from the first one on."""
    model.eval()
    data, truth = pictures.data[:count], pictures.truth[:count]
    right = sum((model(data[at:at + 500]).argmax(1) == truth[at:at + 500]).sum().item()
                for at in range(0, len(data), 500))
    model.train()
    return right / len(data)


def tell(model: nn.Module, steps: list[float], losses: list[float], unseen: Pictures, options) -> None:
    if len(steps) % options.say_every == 0:
        print(f"step {len(steps)}: loss {losses[-1]:.3f}", flush=True)
    if options.evaluate_every and len(steps) % options.evaluate_every == 0:
        print(f"step {len(steps)}: accuracy {accuracy(model, unseen, SOME):.4f} after {sum(steps):.2f} s", flush=True)


def optimizer_of(model: nn.Module, options) -> torch.optim.Optimizer:
    if options.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    return torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=0.9)


def rate_factor(options, step: int) -> float:
    """What the rate is multiplied by in a step, which is 0 for the first.

    The steps of a rank that is taken along to where the fastest one is may be more than those of the training.
    """
    return SCHEDULES[options.schedule](min(step / options.steps, 1))


def rates_of(optimizer: torch.optim.Optimizer, options) -> torch.optim.lr_scheduler.LambdaLR:
    return torch.optim.lr_scheduler.LambdaLR(optimizer, functools.partial(rate_factor, options))


def train(model: nn.Module, parallel: nn.Module, optimizer, seen: Pictures, unseen: Pictures, options,
          rates: torch.optim.lr_scheduler.LambdaLR | None) -> tuple[list[float], list[float]]:
    """Seconds of each step, and this rank's losses. `parallel` is the model as it is called for its outputs.

    `rates` change the optimizer's, unless it does that by itself.
    """
    mine = torch.utils.data.distributed.DistributedSampler(
        torch.utils.data.TensorDataset(seen.data, seen.truth), seed=options.seed)
    steps: list[float] = []
    losses: list[float] = []
    while len(steps) < options.steps:
        mine.set_epoch(len(steps))
        for batch in torch.tensor(list(mine)).split(options.batch)[:options.steps - len(steps)]:
            began = time.perf_counter()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(parallel(seen.data[batch]), seen.truth[batch])
            loss.backward()
            optimizer.step()
            if rates is not None:
                rates.step()
            steps.append(time.perf_counter() - began)
            losses.append(loss.item())
            if dist.get_rank() == 0:
                tell(model, steps, losses, unseen, options)
    return steps, losses


def outcome(model: nn.Module, steps: list[float], losses: list[float], unseen: Pictures) -> str:
    score = accuracy(model, unseen, len(unseen.data))
    return (f"rank {dist.get_rank()} of {dist.get_world_size()}: accuracy {score:.4f}, "
            f"loss {statistics.mean(losses[-20:]):.3f}, {statistics.median(steps) * 1e3:.1f} ms per step, "
            f"parameters {digest(model)}")


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--backend", default="tributary",
                        help="of torch.distributed (default: %(default)s)")
    parser.add_argument("--model", choices=models.MODELS, default="cnn", help="default: %(default)s")
    parser.add_argument("--width", type=int, default=512, help="of the layers of mlp (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=300, help="of the training (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="pictures per rank and step (default: %(default)s)")
    parser.add_argument("--optimizer", choices=RATES, help="default: adam; sgd has a momentum of 0.9")
    parser.add_argument("--learning-rate", type=float, help="default: "
                        + ", ".join(f"{rate:g} of {name}" for name, rate in RATES.items()))
    parser.add_argument("--schedule", choices=SCHEDULES, default="constant",
                        help="of the rate (default: %(default)s). step: it is multiplied by 0.2 after each quarter of "
                        "the steps; cosine: it falls to 0, at first and in the end slowly")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the first parameters, and of who gets which pictures (default: %(default)s)")
    parser.add_argument("--say-every", type=int, default=50, metavar="STEPS",
                        help="how often rank 0 tells its loss (default: %(default)s)")
    parser.add_argument("--evaluate-every", type=int, default=0, metavar="STEPS",
                        help="how often rank 0 tells the accuracy, and the time that its steps have taken; the other "
                        "ranks wait for it meanwhile (default: in the end only)")
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist", metavar="DIR",
                        help="which has the four files of Fashion-MNIST (default: %(default)s)")
    return parser


def require_least(parser: argparse.ArgumentParser, options, least: int, *names: str) -> None:
    for name in names:
        if getattr(options, name) < least:
            parser.error(f"--{name.replace('_', '-')} {getattr(options, name)}: give {least} or more")


def require_pictures(parser: argparse.ArgumentParser, options) -> None:
    if not (options.data / "train-images-idx3-ubyte.gz").exists():
        parser.error(f"--data {options.data}: there is no Fashion-MNIST; give the directory with its four files, or "
                     "install Debian's package dataset-fashion-mnist")


def checked(parser: argparse.ArgumentParser, usual=lambda options: "adam") -> argparse.Namespace:
    """The command line's options; `usual` tells by which optimizer a model is trained unless they name one."""
    options = parser.parse_args()
    require_least(parser, options, 1, "width", "steps", "batch", "say_every")
    require_least(parser, options, 0, "seed", "evaluate_every")
    if options.optimizer is None:
        options.optimizer = usual(options)
    if options.learning_rate is None:
        options.learning_rate = RATES[options.optimizer]
    return options


def main() -> None:
    parser = arguments(__doc__)
    options = checked(parser)
    require_pictures(parser, options)
    dist.init_process_group(options.backend)
    torch.manual_seed(options.seed)
    model = models.of_name(options.model, options.width)
    seen, unseen = Pictures.read(options.data, "train"), Pictures.read(options.data, "t10k")
    parallel = DistributedDataParallel(model)
    optimizer = optimizer_of(model, options)
    steps, losses = train(model, parallel, optimizer, seen, unseen, options, rates_of(optimizer, options))
    print(outcome(model, steps, losses, unseen))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
