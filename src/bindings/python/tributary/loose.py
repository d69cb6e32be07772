# SPDX-License-Identifier: BSD-3-Clause
"""An optimizer for ranks that train at speeds of their own; tributary.torch.loose_optimizer() makes it."""

import functools
import weakref

import torch

from ._core import Communicator, GradientExchange


class LooseOptimizer:
    """The steps of an optimizer, by gradients that ranks exchange layer by layer, as far apart as they may be.

        optimizer = tributary.torch.loose_optimizer(torch.optim.SGD(model.parameters(), lr=0.1), synchrony="ssp")
        for images, labels in batches:
            optimizer.zero_grad()                       # sums so far are applied: before the forward pass
            loss(model(images), labels).backward()      # a gradient is offered as soon as it is there
            optimizer.step()                            # they are in sums
        optimizer.close()                               # from now on all ranks have the same parameters

    Each parameter is a layer. A sum is divided by the number of ranks, whoever is in it, and the optimizer makes a
    step of it for this parameter alone. `options` are those of tributary.GradientExchange.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, communicator: Communicator, **options):
        self.optimizer = optimizer
        self._size = communicator.size
        self._parameters = [one for group in optimizer.param_groups for one in group["params"] if one.requires_grad]
        self._hands_over = options.get("synchrony") == "asp" or options.get("stale") == "drop"
        self._inside = False
        self._offered: set[int] = set()
        flat = _flattened(self._parameters)
        communicator.broadcast(flat)
        own = weakref.ref(self)  # or else the exchange would keep this, which keeps the exchange
        self.exchange = GradientExchange(
            communicator, [one.numel() for one in self._parameters], lambda *told: own()._apply(*told),
            flat if self._hands_over else None, **options)
        self._hooks = [one.register_hook(functools.partial(self._offer, layer))
                       for layer, one in enumerate(self._parameters)]

    def zero_grad(self) -> int:
        """Applies the sums so far and begins the next iteration, whose number it returns; before its forward pass."""
        if self._inside:
            raise RuntimeError("step() ends an iteration, and comes before the next zero_grad()")
        self._drop_gradients()
        iteration = self.exchange.enter()
        self._offered.clear()
        self._inside = True
        return iteration

    def step(self) -> bool:
        """Waits until all gradients of the iteration are in sums; False if they were too old, and dropped."""
        if not self._inside:
            raise RuntimeError("zero_grad() begins an iteration, and comes before its forward pass")
        for layer, parameter in enumerate(self._parameters):
            if layer not in self._offered:  # the loss does not depend on it
                self._offer(layer, torch.zeros(parameter.shape, dtype=torch.float32, device="cpu"))
        self._inside = False
        return self.exchange.finish()

    def close(self) -> None:
        """Waits for the other ranks to close, and applies their sums."""
        self._remove_hooks()
        self._drop_gradients()
        self.exchange.close()

    def __enter__(self) -> "LooseOptimizer":
        return self

    def __exit__(self, kind, _value, _traceback) -> None:
        if kind is None:
            self.close()
        else:
            self._remove_hooks()  # the model may be trained on without the others
            self.exchange.abort()

    def _remove_hooks(self) -> None:
        for hook in self._hooks:
            hook.remove()

    def _drop_gradients(self) -> None:
        for parameter in self._parameters:
            parameter.grad = None

    def _offer(self, layer: int, gradient: torch.Tensor) -> None:
        if not self._inside:
            raise RuntimeError("zero_grad() begins an iteration, and comes before its forward pass")
        self.exchange.offer(layer, gradient.detach().contiguous().numpy())
        self._offered.add(layer)

    def _apply(self, layer: int, values: memoryview, _contributors: list[int]) -> None:
        parameter = self._parameters[layer]
        parameter.grad = torch.frombuffer(values, dtype=torch.float32).view_as(parameter).div_(self._size)
        self.optimizer.step()  # of this one: no other has a gradient
        parameter.grad = None
        if self._hands_over and any(map(torch.is_tensor, self.optimizer.state[parameter].values())):
            raise RuntimeError("with asp, and where stale gradients are dropped, ranks get the parameters of others, "
                               "but not what an optimizer remembers: use SGD without momentum")


def _flattened(parameters: list[torch.Tensor]):
    """One vector that has all parameters from now on: they are views of it."""
    for parameter in parameters:
        if parameter.dtype != torch.float32 or parameter.device.type != "cpu":
            raise TypeError(f"a loose optimizer is for float32 in the memory of the host, and a parameter is "
                            f"{parameter.dtype} on {parameter.device}")
    flat = torch.cat([parameter.detach().flatten() for parameter in parameters])
    first = 0
    for parameter in parameters:
        parameter.data = flat[first:first + parameter.numel()].view(parameter.shape)
        first += parameter.numel()
    return flat.numpy()
