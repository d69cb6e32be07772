# SPDX-License-Identifier: BSD-3-Clause
"""The backend "tributary" of torch.distributed: importing this makes it known.

    import torch.distributed, tributary.torch

    torch.distributed.init_process_group("tributary")

`python3 -m tributary.torch SCRIPT ARGUMENTS...` makes it known to a script that does not import it; with
`--instead-of gloo` before the script, it is what that gets where it asks for gloo. docs/operate/pytorch.md has the
rest.
"""

import argparse
import atexit
import fcntl
import ipaddress
import os
import secrets
import socket
import struct
import sys
import types
import weakref

import torch as _torch
import torch.distributed as _distributed

from . import AbortedError, Communicator, hooks, launchers
from ._torch import ProcessGroupTributary, Watch
from .loose import LooseOptimizer

__all__ = ["LooseOptimizer", "ProcessGroupTributary", "algorithm", "compress_bf16", "loose_optimizer",
           "monitored_barrier", "sketch_hook", "statistics"]

_Gloo = _distributed.ProcessGroupGloo  # whatever "gloo" means to the script
# An address that nobody has (RFC 5737): what is sent there goes by the interface to other machines.
_ELSEWHERE = "192.0.2.1"
_SIOCGIFADDR = 0x8915  # netdevice(7)
# libtributary takes no longer time.
_LONGEST_S = 1e8
_OVER_INTERFACES = ("bcube", "mesh", "bcube-switches", "mesh-switches")  # algorithms
# With the time limit of each.
_groups: "weakref.WeakKeyDictionary[ProcessGroupTributary, object]" = weakref.WeakKeyDictionary()
_watches: "weakref.WeakSet[Watch]" = weakref.WeakSet()
_made = False  # a communicator beside the groups


def algorithm(group=None) -> str:
    """By which algorithm a group runs: "canary", "ring"."""
    return _of_tributary(group).algorithm()


def statistics(name: str, group=None) -> int:
    """What a group has counted by that name, as docs/reference/library.md lists them."""
    return _of_tributary(group).statistics(name)


def monitored_barrier(group=None, timeout=None, wait_all_ranks: bool = False) -> None:
    """torch.distributed.monitored_barrier(), which PyTorch refuses to all groups that are not called gloo.

    Without a timeout it has the group's.
    """
    group = _of_tributary(group)
    group.monitored_barrier(timeout or _groups[group], wait_all_ranks=wait_all_ranks)


def compress_bf16(group, bucket):
    """A hook of DDP's that has gradients halved on the way: bfloat16, which no gradient exceeds.

        model.register_comm_hook(None, tributary.torch.compress_bf16)

    PyTorch has one of its own, for NCCL alone.
    """
    group = group or _distributed.group.WORLD
    halved = bucket.buffer().to(_torch.bfloat16).div_(group.size())
    reducing = _distributed.all_reduce(halved, group=group, async_op=True).get_future()
    return reducing.then(lambda reduced: bucket.buffer().copy_(reduced.value()[0]))


def sketch_hook(bits: int = 8, feedback: bool = True, communicator: Communicator | None = None, low_rank: int = 0,
                **more):
    """A hook of DDP's by which each gradient goes as a few bits, and what was rounded off comes with the next one.

        model.register_comm_hook(None, tributary.torch.sketch_hook(bits=8))

    All ranks of the default group call it, whatever its backend. It makes a communicator of them, which ends when one
    of them dies, unless it is given one. With `low_rank`, layers of weights go as factors of that rank. `more` is the
    kind, the rounding and the seed of tributary.Sketch; with feedback elements are rounded to nearest.
    """
    watch = None
    if communicator is None:
        communicator, watch = _communicator_of_all()
    hook = hooks.sketch_hook(communicator, _torch.futures.Future, bits=bits, feedback=feedback, low_rank=low_rank,
                             **more)

    # What a future was given as its exception is no tensor to DDP; what a callback raises is an error.
    def sketched(state, bucket):
        count = bucket.buffer().numel()

        def averaged(future):
            try:
                return future.value()
            except Exception as error:
                gone = watch.gone() if watch else ""
                if gone:  # where the watch has ended it, that is all there is to say
                    gone = gone if isinstance(error, AbortedError) else f"{error} ({gone})"
                raise RuntimeError(f"a sketched sum of {count} elements on rank {_distributed.get_rank()} of "
                                   f"{_distributed.get_world_size()} failed: {gone or error}") from None

        return hook(state, bucket).then(averaged)

    return sketched


def loose_optimizer(optimizer: _torch.optim.Optimizer, communicator: Communicator | None = None,
                    **options) -> LooseOptimizer:
    """Has ranks train at speeds of their own: see LooseOptimizer, and tributary.GradientExchange for the options.

        optimizer = tributary.torch.loose_optimizer(torch.optim.SGD(model.parameters(), lr=0.1), synchrony="ssp",
                                                    staleness=3)

    All ranks of the default group call it, whatever its backend, in place of DDP. It makes a communicator of them,
    which ends when one of them dies, unless it is given one. All ranks begin with the parameters of rank 0.
    """
    watch = None
    if communicator is None:
        communicator, watch = _communicator_of_all()
    loose = LooseOptimizer(optimizer, communicator, **options)
    loose.watch = watch  # as long as this
    return loose


def _communicator_of_all() -> tuple[Communicator, Watch]:
    """They meet at rank 0, of which the others hear by the default group; and who notices that one has ended."""
    global _made
    place = [None]
    if _distributed.get_rank() == 0:
        address = (os.environ.get("TRIBUTARY_LOCAL_ADDRESS") or _address_of(os.environ.get("TRIBUTARY_INTERFACE")) or
                   _local_address() or _address_towards(_ELSEWHERE) or "127.0.0.1")
        place = [_place_at(address)]
    _distributed.broadcast_object_list(place)
    if isinstance(place[0], OSError):
        raise place[0]
    address, port, secret = place[0]
    rank, size = _distributed.get_rank(), _distributed.get_world_size()
    world = _distributed.group.WORLD
    options = getattr(world, "options", None)  # of other backends
    timeout = _groups.get(world) or getattr(options, "_timeout", _distributed.constants.default_pg_timeout)
    local_address = os.environ.get("TRIBUTARY_LOCAL_ADDRESS") or _local_address()
    limits = {name.removeprefix("TRIBUTARY_").lower(): value
              for name, value in _variables(timeout, local_address).items()}
    # The job's number, and what was set up for it, are the default group's, or the first one's made here. Over several
    # interfaces nothing is set up for a job.
    is_of_one_job = os.environ.get("TRIBUTARY_ALGORITHM") not in _OVER_INTERFACES
    part = {"part": True} if is_of_one_job and (world in _groups or _made) else {}
    _made = True
    communicator = Communicator(rank=rank, world_size=size, master_addr=address, master_port=port, secret=secret,
                                **limits, **part)
    store = _distributed.PrefixStore(f"sketches/{port}", _distributed.distributed_c10d._get_default_store())
    watch = Watch(_gloo(store, rank, size, timeout, local_address), communicator.abort)
    _watches.add(watch)
    return communicator, watch


def _place_at(address: str) -> tuple[str, int, str] | OSError:
    """Where ranks meet, and their secret; or why they cannot, of which all hear."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.bind((address, 0))
            return address, probe.getsockname()[1], secrets.token_hex(32)
    except OSError as error:
        return OSError(error.errno, f"rank 0 cannot listen at {address}: {error.strerror}")


def _of_tributary(group) -> ProcessGroupTributary:
    group = group or _distributed.group.WORLD
    for one in _groups:
        if one is group:
            return one
    raise ValueError('that is no process group of the backend "tributary", or is destroyed')


def _local_address() -> str | None:
    """This machine's, where it sends what goes to the other ranks: the one towards MASTER_ADDR."""
    master = os.environ.get("MASTER_ADDR")
    address = _address_towards(master) if master else None
    if address and master != "localhost" and address != master and ipaddress.ip_address(address).is_loopback:
        # A machine may know its own name as an address where nobody else reaches it (Debian's 127.0.1.1).
        return _address_towards(_ELSEWHERE) or address
    return address


def _address_of(interface: str | None) -> str | None:
    if not interface:
        return None
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            request = struct.pack("256s", interface.encode()[:15])
            return socket.inet_ntoa(fcntl.ioctl(any_socket, _SIOCGIFADDR, request)[20:24])
    except OSError:
        return None


def _address_towards(other: str) -> str | None:
    try:
        family, kind, _, _, place = socket.getaddrinfo(other, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as towards:
            towards.connect(place)
            return towards.getsockname()[0]
    except OSError:
        return None


def _variables(timeout, local_address: str | None) -> dict[str, str]:
    """What the environment leaves to us: the group's time limit, and where its ranks are."""
    variables = {}
    if not any(os.environ.get(name) for name in ("TRIBUTARY_STALL_TIMEOUT", "TRIBUTARY_DEADLINE")):
        variables["TRIBUTARY_STALL_TIMEOUT"] = f"{min(timeout.total_seconds(), _LONGEST_S)}s"
    if local_address and not os.environ.get("TRIBUTARY_INTERFACE"):
        variables["TRIBUTARY_LOCAL_ADDRESS"] = local_address
    return variables


def _gloo(store, rank: int, size: int, timeout, local_address: str | None):
    """What carries all that libtributary does not."""
    interfaces = os.environ.get("GLOO_SOCKET_IFNAME") or os.environ.get("TRIBUTARY_INTERFACE")
    options = _Gloo._Options()
    options._timeout = timeout
    if interfaces:
        options._devices = [_Gloo.create_device(interface=name) for name in interfaces.split(",")]
    elif local_address:
        options._devices = [_Gloo.create_device(hostname=local_address)]
    else:
        options._devices = [_Gloo.create_default_device()]
    return _Gloo(_distributed.PrefixStore("gloo", store), rank, size, options)


def _make(store, rank: int, size: int, timeout, is_part: bool) -> ProcessGroupTributary:
    local_address = os.environ.get("TRIBUTARY_LOCAL_ADDRESS") or _local_address()
    group = ProcessGroupTributary(store, rank, size, is_part=is_part, variables=_variables(timeout, local_address),
                                  rest=_gloo(store, rank, size, timeout, local_address))
    _groups[group] = timeout
    return group


def _create(options, _more) -> ProcessGroupTributary:
    return _make(options.store, options.group_rank, options.group_size, options.timeout,
                 is_part=bool(options.global_ranks_in_group))


def _take_the_place_of_gloo() -> None:
    """Groups keep gloo's name, by which PyTorch has for them what it has for gloo alone."""
    c10d = _distributed.distributed_c10d

    def create(store, rank: int, size: int, timeout) -> ProcessGroupTributary:
        return _make(store, rank, size, timeout, is_part=_distributed.is_initialized())

    def checked(wrapped_pg, store_prefix: str, store, rank: int, world_size: int, timeout):
        """With TORCH_DISTRIBUTED_DEBUG=DETAIL: what compares the calls of the ranks has to be gloo."""
        store = _distributed.PrefixStore(f"checks/{store_prefix}", store)
        local_address = os.environ.get("TRIBUTARY_LOCAL_ADDRESS") or _local_address()
        return c10d._ProcessGroupWrapper(wrapped_pg, _gloo(store, rank, world_size, timeout, local_address))

    c10d.ProcessGroupGloo = create
    c10d._create_process_group_wrapper = checked


@atexit.register
def _close(process: int = os.getpid()) -> None:
    """Other ranks may still need an answer from this one when its script is over. A process that was
    forked has nothing to close: the threads of its parent's groups are not there."""
    if os.getpid() == process:
        for one in [*_watches, *_groups]:
            one.close()


_distributed.Backend.register_backend("tributary", _create, extended_api=True)


def _run() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tributary.torch", allow_abbrev=False,
                                     description="Runs a script that finds the backend \"tributary\".")
    parser.add_argument("--instead-of", choices=["gloo"], help="the backend whose place it takes")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    options = parser.parse_args()
    if options.instead_of:
        _take_the_place_of_gloo()
    os.environ.update(launchers.torchruns_variables(os.environ))
    _run_script(options.script, options.arguments)


def _run_script(path: str, arguments: list[str]) -> None:
    """As when Python runs it itself. What it has lives as long, too: a group of gloo that goes before Python ends
    waits for its threads, which may wait for Python's lock."""
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    script = types.ModuleType("__main__")
    script.__file__ = path
    sys.modules["__main__"] = script
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec")
    exec(code, script.__dict__)  # pylint: disable=exec-used


if __name__ == "__main__":
    # The script is to see the module by its name, and not register the backend once more.
    sys.modules[__spec__.name] = sys.modules["__main__"]
    sys.modules[__package__].torch = sys.modules["__main__"]
    _run()
