# SPDX-License-Identifier: BSD-3-Clause
"""An optimizer for ranks that train at speeds of their own; tributary.torch.loose_optimizer() makes it."""

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator

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

    Each parameter is a layer. The optimizer makes a step of each sum, for this parameter alone: by the mean of the
    gradients of those who are in it, at as much of the learning rate as they are of all ranks. `schedule`, the same on
    all ranks, tells by the iteration of a sum what the learning rate is multiplied by. `options` are those of
    tributary.GradientExchange.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, communicator: Communicator,
                 schedule: Callable[[int], float] = lambda iteration: 1.0, **options):
        self.optimizer = optimizer
        self._schedule = schedule
        self._size = communicator.size
        self._parameters = [one for one in self._all() if one.requires_grad]
        self._hands_over = options.get("synchrony") == "asp" or options.get("stale") == "drop"
        self._inside = False
        self._offered: set[int] = set()
        flat = _with_all(communicator, self._prepare)
        communicator.broadcast(flat)
        for frozen in self._all():
            if not frozen.requires_grad:
                _broadcast(communicator, frozen)
        own = weakref.ref(self)  # or else the exchange would keep this, which keeps the exchange
        self.exchange = GradientExchange(
            communicator, [one.numel() for one in self._parameters], lambda *told: own()._apply(*told),
            flat if self._hands_over else None, **options)
        self._hooks = [one.register_hook(functools.partial(self._offer, layer))
                       for layer, one in enumerate(self._parameters)]

    def _prepare(self):
        """Returns the vector of all parameters; an error says why this rank cannot train."""
        if self._hands_over and _remembers(self.optimizer):
            raise ValueError("with asp, and where stale gradients are dropped, ranks get the parameters of others, but "
                             "not what an optimizer remembers: use SGD without momentum")
        return _flattened(self._parameters)

    def zero_grad(self) -> int:
        """Applies the sums so far and begins the next iteration, whose number it returns; before its forward pass."""
        if self._inside:
            raise RuntimeError("step() ends an iteration, and comes before the next zero_grad()")
        if [id(one) for one in self._all() if one.requires_grad] != [id(one) for one in self._parameters]:
            raise RuntimeError("other parameters of the optimizer require gradients than at first: close this loose "
                               "optimizer, and make a new one")
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

    @contextlib.contextmanager
    def _rate_times(self, factor: float) -> Iterator[None]:
        """Ranks out of step make several sums of an iteration. An optimizer such as Adam, and a weight decay, take no
        smaller step of a smaller gradient."""
        groups = [group for group in self.optimizer.param_groups if "lr" in group]
        rates = [group["lr"] for group in groups]
        for group, rate in zip(groups, rates):
            group["lr"] = rate * factor
        try:
            yield
        finally:
            for group, rate in zip(groups, rates):
                group["lr"] = rate

    def _all(self) -> list[torch.Tensor]:
        return [one for group in self.optimizer.param_groups for one in group["params"]]

    def _drop_gradients(self) -> None:
        for parameter in self._all():  # of one that is frozen, too, or each sum would have a step of it
            parameter.grad = None

    def _offer(self, layer: int, gradient: torch.Tensor) -> None:
        if not self._inside:
            raise RuntimeError("zero_grad() begins an iteration, and comes before its forward pass")
        self.exchange.offer(layer, gradient.detach().contiguous().numpy())
        self._offered.add(layer)

    def _apply(self, layer: int, values: memoryview, contributors: list[int], iteration: int) -> None:
        parameter = self._parameters[layer]
        parameter.grad = torch.frombuffer(values, dtype=torch.float32).view_as(parameter).div_(len(contributors))
        with self._rate_times(self._schedule(iteration) * len(contributors) / self._size):
            self.optimizer.step()  # of this one: no other has a gradient
        parameter.grad = None


def _with_all(communicator: Communicator, prepare: Callable):
    """What it returns, if it raises on no rank: on all others it would be waited for in vain."""
    failed = torch.zeros(communicator.size, dtype=torch.int32)
    try:
        prepared = prepare()
    except Exception:
        failed[communicator.rank] = 1
        communicator.allreduce(failed.numpy())
        raise
    communicator.allreduce(failed.numpy())
    if failed.any():
        ranks = ", ".join(str(rank) for rank in failed.nonzero().flatten().tolist())
        raise RuntimeError(f"no loose optimizer: its own error says why it cannot be on rank {ranks}")
    return prepared


def _has_state(optimizer: torch.optim.Optimizer) -> bool:
    return any(torch.is_tensor(value) for state in optimizer.state.values() for value in state.values())


def _remembers(optimizer: torch.optim.Optimizer) -> bool:
    """Whether it has a state, or has one after a step: it makes one, of parameters that are in no model."""
    if _has_state(optimizer):
        return True
    own = [group["params"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        tried = torch.nn.Parameter(torch.zeros(1))
        tried.grad = torch.zeros(1)
        group["params"] = [tried]
    try:
        optimizer.step()
        return _has_state(optimizer)
    finally:
        for group, parameters in zip(optimizer.param_groups, own):
            optimizer.state.pop(group["params"][0], None)
            group["params"] = parameters


def _broadcast(communicator: Communicator, frozen: torch.Tensor) -> None:
    """Of any type and layout."""
    held = frozen.detach().cpu().contiguous()
    if held.numel() != 0:
        communicator.broadcast(held.view(-1).view(torch.int8).numpy())
        frozen.data.copy_(held)


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
