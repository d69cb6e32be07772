# SPDX-License-Identifier: BSD-3-Clause
"""What calls of tributary raise. Messages say what to do."""

import builtins


class Error(RuntimeError):
    """A collective, or the creation of a communicator, has failed."""


class InvalidArgumentError(Error, ValueError):
    """The caller's fault; nothing was sent."""


class RendezvousError(Error):
    """The ranks did not find each other, or do not agree."""


class TimeoutError(Error, builtins.TimeoutError):  # pylint: disable=redefined-builtin
    """No progress for too long, or the deadline passed. The message names what is missing."""


class NetworkError(Error):
    """A socket failed, or switches do not reduce and nothing else may."""


class MismatchError(Error):
    """Ranks called different collectives, or a sum cannot be right."""


class InternalError(Error):
    """A fault of the library."""


class AbortedError(Error):
    """Communicator.abort() was called."""


class MembershipEndedError(Error):
    """The elastic world goes on without this communicator: call its regroup(). Raised by that, this
    process is no member any more."""


_OF_RESULTS = {
    "TRIBUTARY_INVALID_ARGUMENT": InvalidArgumentError,
    "TRIBUTARY_RENDEZVOUS": RendezvousError,
    "TRIBUTARY_TIMEOUT": TimeoutError,
    "TRIBUTARY_NETWORK": NetworkError,
    "TRIBUTARY_MISMATCH": MismatchError,
    "TRIBUTARY_INTERNAL": InternalError,
    "TRIBUTARY_ABORTED": AbortedError,
    "TRIBUTARY_MEMBERSHIP_ENDED": MembershipEndedError,
}


def of(result: str) -> type[Error]:
    """Which of them stands for a result of the C interface."""
    return _OF_RESULTS.get(result, InternalError)
