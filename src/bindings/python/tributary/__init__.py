# SPDX-License-Identifier: BSD-3-Clause
"""Allreduce and other collectives, added up by the switches on the way.

    import numpy, tributary

    with tributary.Communicator() as ranks:
        gradients = numpy.ones(1000, dtype="float32")
        ranks.allreduce(gradients)

docs/reference/python.md has the whole of it; tributary.torch is for PyTorch.
"""

from ._core import Communicator, GradientExchange, Request, Sketch, load_handler, load_handler_file, wait_any
from .errors import (AbortedError, Error, InternalError, InvalidArgumentError,
                     MembershipEndedError, MismatchError, NetworkError, RendezvousError, TimeoutError)

__all__ = ["AbortedError", "Communicator", "Error", "GradientExchange", "InternalError",
           "InvalidArgumentError", "MembershipEndedError", "MismatchError", "NetworkError", "RendezvousError",
           "Request", "Sketch", "TimeoutError",
           "load_handler", "load_handler_file", "wait_any"]
