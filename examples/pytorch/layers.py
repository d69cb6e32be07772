# SPDX-License-Identifier: BSD-3-Clause
"""Tells of each layer of a network when its gradient comes, how long its sum takes, and how far sketches of it are off.

Ranks train with a collective for each layer, in turn of floats and of sketches on a grid. Times are medians of the
steps: from the begin of backpropagation on until the gradient is there, and from then on until its sum is. The
errors are those of one rank's gradient in the last step: the root mean square, in percent of the gradient's, and that
of half of its elements at most, in percent of the element. Sketches have as many quantiles as a byte has values (the
gradient sketch paper), as many equal steps, or the grid of so many ranks, each with rounding to nearest.
"""

import argparse
import pathlib
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import needs

needs.require("torch", "tributary")

import numpy as np
import torch
from torch import nn

import models
import train
import tributary

CODES = 256
CHUNK = 512  # elements of a grid that share a unit


class Layer:
    """Weights and biases that come together, and what was measured of them."""

    def __init__(self, module: nn.Module, name: str) -> None:
        self.name = name
        self.parameters = list(module.parameters())
        self.count = sum(parameter.numel() for parameter in self.parameters)
        self.sketch = tributary.Sketch(self.count)
        self.came: list[float] = []
        self.took: dict[bool, list[float]] = {False: [], True: []}  # by whether it was sketched

    def vector(self) -> np.ndarray:
        return torch.cat([parameter.grad.flatten() for parameter in self.parameters]).numpy()

    def take(self, averaged: np.ndarray) -> None:
        parts = torch.from_numpy(averaged).split([parameter.numel() for parameter in self.parameters])
        for parameter, part in zip(self.parameters, parts):
            parameter.grad = part.reshape(parameter.shape)


def layers_of(model: nn.Module) -> list[Layer]:
    modules = [module for module in model.modules() if list(module.parameters(recurse=False))]
    return [Layer(module, f"{number} {type(module).__name__}") for number, module in enumerate(modules, 1)]


def error(exact: np.ndarray, sketched: np.ndarray) -> float:
    return 100 * float(np.sqrt(np.mean((exact - sketched) ** 2) / np.mean(exact ** 2)))


def error_of_half(exact: np.ndarray, sketched: np.ndarray) -> float:
    some = exact != 0
    return 100 * float(np.median(np.abs(exact - sketched)[some] / np.abs(exact)[some]))


def by_quantiles(exact: np.ndarray) -> np.ndarray:
    edges = np.quantile(exact, np.linspace(0, 1, CODES + 1))
    codes = np.clip(np.searchsorted(edges, exact, "right") - 1, 0, CODES - 1)
    return ((edges[:-1] + edges[1:]) / 2)[codes]


def by_equal_steps(exact: np.ndarray) -> np.ndarray:
    step = (exact.max() - exact.min()) / CODES
    return exact.min() + (np.clip((exact - exact.min()) // step, 0, CODES - 1) + 0.5) * step


def on_grid(exact: np.ndarray, ranks: int) -> np.ndarray:
    chunks = np.pad(exact, (0, -len(exact) % CHUNK)).reshape(-1, CHUNK)
    units = np.maximum(np.abs(chunks).max(axis=1, keepdims=True) / (127 // ranks), 2.0 ** -100)
    return (np.round(chunks / units) * units).flatten()[:len(exact)]


def step(communicator, layers: list[Layer], loss: torch.Tensor, sketched: bool, waiter) -> list[np.ndarray]:
    """Leaves the averages in the parameters' gradients, and returns what this rank gave."""
    gave: dict[Layer, np.ndarray] = {}
    waiting = []
    left = {id(parameter): layer for layer in layers for parameter in layer.parameters}
    missing = {layer: len(layer.parameters) for layer in layers}

    def ended(request, layer: Layer, came: float) -> None:
        request.wait()
        layer.took[sketched].append(time.perf_counter() - came)

    def arrived(parameter) -> None:
        layer = left[id(parameter)]
        missing[layer] -= 1
        if missing[layer]:
            return
        came = time.perf_counter()
        layer.came.append(came - began)
        gave[layer] = layer.vector()
        averaged = gave[layer].copy()
        request = (communicator.isketched_allreduce(averaged, layer.sketch) if sketched
                   else communicator.iallreduce(averaged))
        waiting.append((layer, averaged, waiter.submit(ended, request, layer, came)))

    # A hook of the node that adds up a gradient is called when it is there.
    nodes = [(parameter.expand_as(parameter).grad_fn.next_functions[0][0], parameter)
             for layer in layers for parameter in layer.parameters]
    handles = [node.register_hook(lambda *_, of=parameter: arrived(of)) for node, parameter in nodes]
    began = time.perf_counter()
    loss.backward()
    for layer, averaged, done in waiting:
        done.result()
        layer.take(averaged / communicator.size)
    for handle in handles:
        handle.remove()
    return [gave[layer] for layer in layers]


def times(layer: Layer) -> list[str]:
    def ms(seconds: list[float]) -> str:
        return f"{1e3 * statistics.median(seconds):.1f}"

    sketch_bytes = layer.count + 2 * -(-layer.count // CHUNK)
    return [layer.name, str(layer.count), ms(layer.came), ms(layer.took[False]), ms(layer.took[True]),
            f"{layer.count * 4 / 1e3:.1f}", f"{sketch_bytes / 1e3:.1f}"]


def errors(layer: Layer, exact: np.ndarray, ranks: int) -> list[str]:
    sketches = by_quantiles(exact), by_equal_steps(exact), on_grid(exact, ranks)
    tail = 100 * float(np.quantile(np.abs(exact), 0.99) / np.abs(exact).max())
    return [layer.name, f"{tail:.0f}", *(f"{error(exact, sketched):.1f}" for sketched in sketches),
            *(f"{error_of_half(exact, sketched):.1f}" for sketched in sketches)]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=[name for name in models.MODELS if name != "mlp"], default="alexnet",
                        help="whose layers are told of (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=40,
                        help="of floats and of sketches in turn (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=32, help="pictures per rank and step (default: %(default)s)")
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist", metavar="DIR",
                        help="which has the four files of Fashion-MNIST (default: %(default)s)")
    options = parser.parse_args()
    train.require_least(parser, options, 2, "steps")
    train.require_least(parser, options, 1, "batch")
    train.require_pictures(parser, options)
    torch.manual_seed(1)
    model = models.of_name(options.model, 0)
    pictures = train.Pictures.read(options.data, "train")
    layers = layers_of(model)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    with tributary.Communicator() as communicator, ThreadPoolExecutor(len(layers)) as waiter:
        drawn = torch.randperm(len(pictures.data))
        for number in range(options.steps):
            first = (number * communicator.size + communicator.rank) * options.batch % len(drawn)
            batch = drawn[first:first + options.batch]
            adam.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures.data[batch]), pictures.truth[batch])
            gave = step(communicator, layers, loss, number % 2 == 1, waiter)
            adam.step()
        print(f"rank {communicator.rank} of {communicator.size}: parameters {train.digest(model)}")
        if communicator.rank == 0:
            print(table(["layer", "elements", "comes after ms", "sum of floats, ms", "of sketches, ms", "kB of floats",
                         "of a sketch"], [times(layer) for layer in layers]) + "\n")
            names = ["quantiles", "equal steps", "grid"]
            print(table(["layer", "99 % within, % of the greatest", *(f"error, {name}" for name in names),
                         *(f"of half, {name}" for name in names)],
                        [errors(layer, exact.astype(np.float64), communicator.size)
                         for layer, exact in zip(layers, gave)]))


if __name__ == "__main__":
    main()
