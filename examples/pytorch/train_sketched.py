# SPDX-License-Identifier: BSD-3-Clause
"""Trains as train.py does, with gradients that go as fewer bytes, or ranks at speeds of their own.

It can also count what a rank sends, and leave the exchange out, to tell what that takes.
"""

import argparse
import contextlib
import functools
import pathlib

import needs

needs.require("torch", "tributary", "tributary.torch")

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

import models
import train
from tributary.torch import compress_bf16, loose_optimizer, sketch_hook

BITS = (4, 8, 16, 32)  # that an element takes, where that is chosen
# With parameters that are handed over nothing goes that an optimizer remembers.
HANDS_OVER = ("asp", "drop")


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
    if options.hook == "bf16":
        parallel.register_comm_hook(None, compress_bf16)
    elif options.hook == "sketch":
        hook = sketch_hook(bits=options.bits, low_rank=options.low_rank, rounding=options.rounding)
        parallel.register_comm_hook(None, hook if options.sketched == 100 else in_some_steps(hook, options.sketched))


@contextlib.contextmanager
def exchanging(model: nn.Module, options):
    """What is called for its outputs, the optimizer and its rates; DDP, or ranks at speeds of their own."""
    drops = options.loose == "drop"
    plain = (torch.optim.SGD(model.parameters(), lr=options.learning_rate) if options.loose in HANDS_OVER
             else train.optimizer_of(model, options))
    if options.loose == "none":
        parallel = DistributedDataParallel(model)
        add_hook(parallel, options)
        with parallel.no_sync() if options.no_sync else contextlib.nullcontext():
            yield parallel, plain, train.rates_of(plain, options)
    else:
        with loose_optimizer(plain, schedule=functools.partial(train.rate_factor, options),
                             synchrony="ssp" if drops else options.loose, stale="drop" if drops else "wait",
                             staleness=options.staleness, bits=options.bits,
                             rounding=options.rounding or "stochastic") as optimizer:
            yield model, optimizer, None


def bytes_sent(interfaces: str) -> int:
    """By this machine, or this network namespace, since it has those interfaces."""
    lines = pathlib.Path("/proc/self/net/dev").read_text().splitlines()
    sent = {name.strip(): int(counters.split()[8])
            for name, colon, counters in (line.partition(":") for line in lines) if colon}
    for interface in interfaces.split(","):
        if interface not in sent:
            raise SystemExit(f"--interface {interface}: there is no such interface here")
    return sum(sent[interface] for interface in interfaces.split(","))


def arguments() -> argparse.ArgumentParser:
    parser = train.arguments(__doc__)
    parser.add_argument("--hook", choices=["none", "bf16", "sketch"], default="none",
                        help="by which gradients go as fewer bytes (default: %(default)s)")
    parser.add_argument("--bits", type=int, choices=BITS,
                        help="of --hook sketch (default: 8; 32 with --low-rank only), or of the gradients of --loose "
                        "(default: 32)")
    parser.add_argument("--rounding", choices=["stochastic", "nearest"],
                        help="to --bits (default: nearest with --hook, stochastic with --loose)")
    parser.add_argument("--low-rank", type=int, default=0, metavar="RANK",
                        help="of --hook sketch: layers of weights go as factors of this rank (default: 0, as they are)")
    parser.add_argument("--sketched", type=int, default=100, metavar="PERCENT",
                        help="of the steps go by --hook sketch, the others as they are (default: %(default)s)")
    parser.add_argument("--loose", choices=["none", "bsp", "ssp", "asp", "drop"], default="none",
                        help="how ranks that go on by themselves are kept together, without DDP and hooks (default: "
                        "%(default)s): by bsp they are in the same step, by ssp up to --staleness apart, and by asp as "
                        "far as it comes; drop is ssp that drops the gradients of ranks further behind. asp and drop "
                        "train by SGD without momentum")
    parser.add_argument("--staleness", type=int, default=3,
                        help="of --loose ssp and drop: how many steps they may be apart (default: %(default)s)")
    parser.add_argument("--no-sync", action="store_true",
                        help="exchange no gradients, to see how long the rest of a step takes")
    parser.add_argument("--interface", metavar="NAMES",
                        help="whose bytes are counted; several have commas between (default: none)")
    return parser


def checked(parser: argparse.ArgumentParser) -> argparse.Namespace:
    options = train.checked(parser, lambda options: "sgd" if options.loose in HANDS_OVER else "adam")
    train.require_least(parser, options, 0, "low_rank", "staleness")
    if options.loose in HANDS_OVER and options.optimizer == "adam":
        parser.error(f"--loose {options.loose} goes by --optimizer sgd: what Adam remembers is not handed over with "
                     "parameters")
    if options.loose != "none" and options.hook != "none":
        parser.error("--loose goes without --hook: its ranks exchange gradients by themselves")
    if options.hook != "sketch" and (options.low_rank, options.sketched) != (0, 100):
        parser.error("--low-rank and --sketched are of --hook sketch")
    if options.bits is not None and options.hook != "sketch" and options.loose == "none":
        parser.error("--bits is of --hook sketch, or of --loose")
    if options.rounding and options.hook != "sketch" and options.bits is None:
        parser.error("--rounding goes with --hook sketch, or with --bits")
    if options.hook == "sketch" and options.bits == 32 and not options.low_rank:
        parser.error("--bits 32 is of --low-rank, whose factors may go as floats: give 4, 8 or 16")
    if options.bits is None:
        options.bits = 8 if options.hook == "sketch" else 32
    if not 0 <= options.sketched <= 100:
        parser.error(f"--sketched {options.sketched}: give 0 to 100 percent of the steps")
    if options.no_sync and (options.hook, options.loose) != ("none", "none"):
        parser.error("--no-sync goes with neither --hook nor --loose, which exchange gradients")
    return options


def main() -> None:
    parser = arguments()
    options = checked(parser)
    train.require_pictures(parser, options)
    dist.init_process_group(options.backend)
    torch.manual_seed(options.seed)
    model = models.of_name(options.model, options.width)
    seen, unseen = (train.Pictures.read(options.data, part) for part in ("train", "t10k"))
    with exchanging(model, options) as (parallel, optimizer, rates):
        sent = bytes_sent(options.interface) if options.interface else 0
        steps, losses = train.train(model, parallel, optimizer, seen, unseen, options, rates)
    sent = bytes_sent(options.interface) - sent if options.interface else 0
    print(train.outcome(model, steps, losses, unseen)
          + (f", {sent / len(steps) / 1e3:.1f} kB sent per step" if options.interface else ""))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
