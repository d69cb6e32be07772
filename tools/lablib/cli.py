# SPDX-License-Identifier: BSD-3-Clause
"""The command line of tools/lab."""

import argparse
import contextlib
import math
import os
import pathlib
import shlex
import shutil
import signal
import sys

from . import (LabError, daemon_config, description, fabric_file, guests, lifecycle, mpi, processes,
               state, workers)
from .description import SWITCH

_EPILOG = """\
LAB is the name of a file in conf/labs without .toml, or any such file. What is up by --name NAME
is meant by LAB and --name NAME, or by NAME in place of LAB.
  tools/lab run fat-tree-8 -- allreduce -b 4K -e 16M     up, one worker per host, down
  tools/lab up star-4 --rate 1Gbit
  tools/lab mpirun star-4 -- hpcc                        an MPI program, by Open MPI
  tools/lab reload star-4 --set switch.port.queue=64KiB
  tools/lab kill fat-tree-8-split spine1                 as a crash would; restart mends it
  tools/lab link fat-tree-8-split l1h1 down              pulls a cable
  tools/lab fabric fat-tree-8 --trees 2 > fabric.toml    for 'tributaryctl fabric apply'
  tools/lab exec star-4 h1 -- ping -c 1 10.0.0.2
  tools/lab exec star-4 switch -- tcpdump -ni h1
"""


def _trees(text: str) -> int | str:
    if text != "all" and not (text.isdecimal() and 1 <= int(text) <= 16):
        raise argparse.ArgumentTypeError(f"'{text}' is neither 'all' nor a number from 1 to 16")
    return text if text == "all" else int(text)


def _counts(text: str) -> list[int]:
    counts = [int(one) if one.isdecimal() else 0 for one in text.split(",")]
    if min(counts) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers with commas, of at least 1")
    return counts


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lab", description="Network namespaces, veth pairs, tributaryd daemons and workers "
        "on one machine.", epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    up = commands.add_parser("up", help="make a lab")
    run = commands.add_parser("run", help="run tributary-bench (or --program) in every host, or "
                              "in every guest where there are no hosts",
                              usage="lab run LAB [options] -- ARGUMENTS")
    mpirun = commands.add_parser("mpirun", help="run an MPI program in every host, by Open MPI and "
                                 "with Tributary's component where that is built",
                                 usage="lab mpirun LAB [options] -- PROGRAM [ARGUMENTS]")
    reload = commands.add_parser("reload", help="change settings of a lab that is up; the daemons "
                                 "go on running")
    for command in (up, run, mpirun):
        command.add_argument("--name", help="call it so, to have a second one of its kind")
        command.add_argument("--build-dir", type=pathlib.Path,
                             default=lifecycle.default_build(),
                             help="where the programs are (default: $TRIBUTARY_BUILD or build)")
        command.add_argument("--mtu", type=int, help="of every host and port")
    for command in (up, run, mpirun, reload):
        command.add_argument("lab", metavar="LAB")
        command.add_argument("--rate", help="of every port, as in 200Mbit; none: not shaped")
        command.add_argument("--cores", help="CPU numbers of the packet cores, as in 0,1")
        command.add_argument("--idle", choices=["adaptive", "poll"])
        command.add_argument("--timeout", help="of Canary, as in 2ms")
        command.add_argument("--descriptors", type=int, help="of Canary")
        command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                             dest="settings", help="any key of the daemons' configuration, as in "
                             "switch.selection.reduction=flowlet; [[tables]] all get it")
    up.add_argument("--bind-to", type=int, metavar="PID", help="take it down when PID ends")
    for command in (run, mpirun):
        command.add_argument("--workers", type=int, metavar="N", help="only on the first N")
        command.add_argument("--hosts", help="only on these, as in h1,h3; rank 0 first")
        command.add_argument("--time-limit", type=_seconds, metavar="SECONDS", help="end all then")
    run.add_argument("--per-host", type=int, default=1, metavar="N",
                     help="so many in each, as of a machine with N GPUs (LOCAL_WORLD_SIZE)")
    mpirun.add_argument("--per-host", type=_counts, default=[1], metavar="N[,N...]",
                        help="ranks in each, or in one host after the other; the last number is for "
                        "all that follow")
    run.add_argument("--port", type=int, default=29500, help="of the rendezvous (MASTER_PORT)")
    run.add_argument("--delay", action="append", default=[], metavar="HOST=SECONDS",
                     help="start one worker later")
    run.add_argument("--program", help="run this instead of tributary-bench")

    down = commands.add_parser("down", help="end a lab, also what is left of a killed one")
    down.add_argument("lab", metavar="LAB", nargs="?", help="default: all that are up")
    execute = commands.add_parser("exec", help=f"run a command in a host, or in '{SWITCH}' (a daemon's "
                                  "name if there are several)",
                                  usage="lab exec LAB HOST -- COMMAND")
    execute.add_argument("lab", metavar="LAB")
    execute.add_argument("host", metavar="HOST")
    kill = commands.add_parser("kill", help="end a daemon as a crash would (SIGKILL)")
    restart = commands.add_parser("restart", help="start a daemon that was killed, or start one anew")
    for command in (kill, restart):
        command.add_argument("lab", metavar="LAB")
        command.add_argument("daemon", metavar="DAEMON")
    link = commands.add_parser("link", help="pull a cable, or plug it in")
    link.add_argument("lab", metavar="LAB")
    link.add_argument("end", metavar="HOST|INTERFACE", help="a host, or a switch-side interface")
    link.add_argument("state", choices=["down", "up"])
    fabric = commands.add_parser("fabric", help="print it as a file for 'tributaryctl fabric', with a "
                                 "job on its hosts")
    fabric.add_argument("lab", metavar="LAB")
    fabric.add_argument("--job", type=int, default=1, help="its id")
    fabric.add_argument("--hosts", help="of the job, as in h1,h3; rank 0 first")
    fabric.add_argument("--algorithm", help="who adds up: panama (if it is not said), netreduce, flare")
    fabric.add_argument("--trees", type=_trees, default="all",
                        help="how many; all (the default): as many as there can be")
    fabric.add_argument("--share", type=float, help="of its workers that a result needs")
    status = commands.add_parser("status", help="what is up")
    status.add_argument("lab", metavar="LAB", nargs="?")
    for command in (reload, down, execute, kill, restart, link, fabric, status):
        command.add_argument("--name", help="under which the lab is up, if not its own")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return seconds


def _overrides(arguments: argparse.Namespace) -> daemon_config.Overrides:
    return daemon_config.Overrides(
        rate=arguments.rate, cores=arguments.cores, idle=arguments.idle,
        timeout=arguments.timeout, descriptors=arguments.descriptors,
        mtu=getattr(arguments, "mtu", None), settings=tuple(arguments.settings))


def _lab(arguments: argparse.Namespace) -> description.Lab:
    """Returns the lab that is up under this name, or the description that LAB means."""
    name = arguments.name or arguments.lab
    record = state.read(name)
    if name == arguments.lab and record is not None:
        return description.load(pathlib.Path(record["description"]), name)
    lab = description.load(description.find(arguments.lab), arguments.name)
    record = state.read(lab.name)
    if record is not None and record["description"] != str(lab.source):
        raise LabError(f"lab {lab.name} is up, but it is {record['description']} and not {lab.source}; "
                       "'up' with --name gives this one a name of its own")
    return lab


def _up(arguments: argparse.Namespace) -> int:
    lab = description.load(description.find(arguments.lab), arguments.name)
    build = pathlib.Path(arguments.build_dir).resolve()
    lifecycle.up(lab, build, _overrides(arguments), arguments.bind_to)
    print(f"lab {lab.name} is up: {len(lab.hosts)} hosts, "
          + (f"{len(lab.guests)} guests, " if lab.guests else "") + f"{len(lab.daemons)} daemons")
    return 0


def _hosts(lab: description.Lab, arguments: argparse.Namespace) -> list[str]:
    if arguments.hosts:
        names = [lab.host(name).name for name in arguments.hosts.split(",")]
        if arguments.workers is not None:
            raise LabError("--hosts and --workers: give one of them, either says where workers run")
        if len(set(names)) < len(names):
            raise LabError(f"--hosts {arguments.hosts}: a host stands there twice; --per-host starts several "
                           "workers in each")
        return names
    names = [host.name for host in lab.hosts or lab.guests]
    if arguments.workers is not None and not 1 <= arguments.workers <= len(names):
        raise LabError(f"--workers {arguments.workers}: lab {lab.name} has {len(names)} hosts")
    return names[:arguments.workers]


def _delays(lab: description.Lab, arguments: argparse.Namespace, hosts: list[str]) -> dict[str, float]:
    delays = {}
    for text in arguments.delay:
        host, _, seconds = text.partition("=")
        try:
            delay = float(seconds)
        except ValueError:
            delay = math.nan
        if not 0 <= delay < math.inf:
            raise LabError(f"--delay {text}: give HOST=SECONDS, as in h3=1.5")
        delays[lab.host(host).name] = delay
        if host not in hosts:
            raise LabError(f"--delay {text}: no worker runs there; workers run in {' '.join(hosts)}")
    return delays


def _run(arguments: argparse.Namespace) -> int:
    lab = _lab(arguments)
    build = pathlib.Path(arguments.build_dir).resolve()
    hosts = _hosts(lab, arguments)
    delays = _delays(lab, arguments, hosts)
    if arguments.per_host < 1:
        raise LabError(f"--per-host {arguments.per_host}: give at least 1")
    in_guests = isinstance(lab.host(hosts[0]), description.Guest)
    if in_guests and arguments.per_host > 1:
        raise LabError(f"--per-host {arguments.per_host}: a guest runs one worker; take a lab with "
                       "hosts, such as star-4")
    argv = workers.bench(build, arguments.program, in_guests) + arguments.arguments
    with _lab_up(lab, build, arguments):
        return workers.run(lab, argv, hosts, arguments.port, delays, arguments.time_limit,
                           arguments.per_host)


def _mpirun(arguments: argparse.Namespace) -> int:
    lab = _lab(arguments)
    build = pathlib.Path(arguments.build_dir).resolve()
    hosts = _hosts(lab, arguments)
    with _lab_up(lab, build, arguments):
        return mpi.run(lab, build, arguments.arguments, hosts, arguments.per_host,
                       arguments.time_limit)


@contextlib.contextmanager
def _lab_up(lab: description.Lab, build: pathlib.Path, arguments: argparse.Namespace):
    """A lab that is up stays as it is; one that is not is up while the context lasts."""
    lifecycle.require_root()
    ours = not lifecycle.is_up(lab.name)
    if ours:
        lifecycle.up(lab, build, _overrides(arguments), os.getpid())
    elif _overrides(arguments) != daemon_config.Overrides():
        raise LabError(f"lab {lab.name} is up already: its settings cannot be changed by "
                       f"'{arguments.command}'")
    try:
        yield
    finally:
        if ours:
            lifecycle.down(lab.name, lab)


def _reload(arguments: argparse.Namespace) -> int:
    lab = _lab(arguments)
    lifecycle.reload(lab, _overrides(arguments))
    print(f"lab {lab.name} runs with the new settings")
    return 0


def _kill(arguments: argparse.Namespace) -> int:
    lab = _lab(arguments)
    if lifecycle.kill_daemon(lab, arguments.daemon):
        print(f"{arguments.daemon} is killed; 'tools/lab restart {lab.name} {arguments.daemon}' "
              "starts it")
    else:
        print(f"{arguments.daemon} was dead before")
    return 0


def _restart(arguments: argparse.Namespace) -> int:
    ended = lifecycle.restart_daemon(_lab(arguments), arguments.daemon)
    print(f"{arguments.daemon} {'is started anew' if ended else 'was dead and is started'}")
    return 0


def _link(arguments: argparse.Namespace) -> int:
    lifecycle.set_link(_lab(arguments), arguments.end, arguments.state == "up")
    print(f"the cable of {arguments.end} is {'plugged in' if arguments.state == 'up' else 'pulled'}")
    return 0


def _fabric(arguments: argparse.Namespace) -> int:
    lab = _lab(arguments)
    hosts = None
    if arguments.hosts:
        hosts = [lab.host(name).name for name in arguments.hosts.split(",")]
    print(fabric_file.text(lab, arguments.job, hosts, arguments.trees,
                           algorithm=arguments.algorithm, share=arguments.share), end="")
    return 0


def _down(arguments: argparse.Namespace) -> int:
    name = arguments.name or arguments.lab
    if name is None:
        lifecycle.require_root()
        for name in state.labs():
            lifecycle.down(name)
            print(f"lab {name} is down")
        return 0
    if state.read(name) is not None:  # needs no description: the file may be gone
        lifecycle.down(name)
        print(f"lab {name} is down")
        return 0
    # The lab may also be given by its file, and may be the remains of one without a state file.
    arguments.lab = arguments.lab or name
    lab = _lab(arguments)
    found = lifecycle.down(lab.name, lab)
    print(f"lab {lab.name} is down" if found else f"lab {lab.name} was not up")
    return 0


def _exec(arguments: argparse.Namespace) -> int:
    lab = _lab(arguments)
    lifecycle.require_root()
    record = state.running(lab.name)
    if arguments.host in record["guests"]:
        status, said = guests.run(state.directory(lab.name), arguments.host,
                                  shlex.join(arguments.arguments), timeout_s=None)
        sys.stdout.write(said)
        return status
    for daemon in lab.daemons:
        if arguments.host == lab.daemon_host(daemon):
            os.environ["TRIBUTARY_SOCKET"] = record["sockets"][daemon.name]
            break
    else:
        lab.host(arguments.host)
    if shutil.which(arguments.arguments[0]) is None:
        raise LabError(f"no command '{arguments.arguments[0]}'")
    return workers.execute(lab, arguments.host, arguments.arguments)


def _status(arguments: argparse.Namespace) -> int:
    name = arguments.name or arguments.lab
    if arguments.lab and state.read(name) is None:
        with contextlib.suppress(LabError):  # it may be given by its file
            name = _lab(arguments).name
    names = [name] if name else state.labs()
    healthy = True
    for name in names:
        record = state.read(name)
        if record is None:
            print(f"lab {name} is not up")
            healthy = False
            continue
        print(f"lab {name}")
        living = {process["role"]: f"pid {process['pid']}" for process in record["processes"]
                  if processes.alive(process)}
        for daemon, socket in record["sockets"].items():
            healthy = healthy and daemon in living
            print(f"  {daemon:<12} {living.get(daemon, 'DEAD'):<12} {socket}")
        for host, address in record["hosts"].items():
            print(f"  {host:<12} {address:<12} namespace trib-{name}-{host}")
        for guest, address in record["guests"].items():
            healthy = healthy and guest in living
            print(f"  {guest:<12} {address:<12} guest, {living.get(guest, 'DEAD')}")
    if not names:
        print("no lab is up")
    return 0 if healthy else 1


def _on_signal(number, _frame):
    raise SystemExit(128 + number)


def main(argv: list[str]) -> int:
    # Arguments behind -- are for the program that is run.
    ours, theirs = argv, []
    if "--" in argv:
        ours, theirs = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    parser = _parser()
    arguments = parser.parse_args(ours)
    if theirs and arguments.command not in ("run", "mpirun", "exec"):
        parser.error(f"'{arguments.command}' takes nothing behind --")
    if not theirs and arguments.command == "exec":
        parser.error("give a command behind --, as in: exec star-4 h1 -- ip route")
    if not theirs and arguments.command == "mpirun":
        parser.error("give a program behind --, as in: mpirun star-4 -- hpcc")
    arguments.arguments = theirs
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)
    commands = {"up": _up, "run": _run, "mpirun": _mpirun, "down": _down, "exec": _exec, "status": _status,
                "reload": _reload, "kill": _kill, "restart": _restart,
                "link": _link, "fabric": _fabric}
    try:
        return commands[arguments.command](arguments)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # as in 'lab status | head'
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
