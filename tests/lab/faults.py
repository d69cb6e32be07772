# SPDX-License-Identifier: BSD-3-Clause
"""Faults that the lab tests and tools/soak-faults inject."""

import contextlib
import time

import support

# Probabilities at each of the switches that a packet passes, three from leaf to leaf.
ALL_AT_ONCE = {"loss": 0.01, "duplicate": 0.01, "reorder": 0.02, "corrupt": 0.001}
IMPAIRMENTS = {
    "loss of 1 %": {"loss": 0.01},
    "loss of 10 % altogether": {"loss": 0.035},
    "duplication of 1 %": {"duplicate": 0.01},
    "reordering of 2 %": {"reorder": 0.02},
    "corruption of 0.1 %": {"corrupt": 0.001},
    "all at once": ALL_AT_ONCE,
}
COUNTED_AS = {"loss": "lost", "duplicate": "duplicated", "reorder": "reordered",
              "corrupt": "corrupted"}
SHORT = ("-b", "4K", "-e", "256K", "-f", "64", "-n", "3", "-w", "0", "-d", "i32")
LONG = ("-b", "256K", "-e", "256K", "-w", "0", "-d", "i32")
LONG_ITERATIONS = 60
DAEMONS = ("spine1", "spine2", "leaf1", "leaf2", "leaf3", "leaf4")


def next_hops(lab: support.Lab, daemon: str) -> dict[str, bool]:
    """Which next hops of its static routes a switch uses."""
    return {hop["address"]: hop["up"] for row in lab.rows("route", daemon=daemon)
            for hop in row["next_hops"] if hop["address"]}


def await_paths(lab: support.Lab) -> None:
    support.until(lambda: all(all(next_hops(lab, daemon).values()) for daemon in DAEMONS),
                  what="that every next hop is used")


def await_sessions(lab: support.Lab) -> None:
    support.until(lambda: all(row["state"] == "up" for row in lab.rows("bfd")),
                  what="that every session is up")


@contextlib.contextmanager
def impaired(lab: support.Lab, impairment: dict[str, float]):
    """Every packet that a switch receives came over a bad cable; seeds differ from port to port."""
    def settings(values) -> list[str]:
        return [word for key, value in values
                for word in ("--set", f"switch.port.impair_in.{key}={value}")]
    lab.tool("reload", *settings({"seed": "{n}", **impairment}.items()))
    try:
        yield
    finally:
        lab.tool("reload", *settings((key, 0.0) for key in impairment))


def over_bad_cables(lab: support.Lab, impairment: dict[str, float]) -> list[dict]:
    """The documents of reductions over them."""
    before = spoilt(lab, impairment)
    with impaired(lab, impairment):
        document = lab.reduce(*SHORT)
    untouched = [kind for kind, count in spoilt(lab, impairment).items() if count == before[kind]]
    if untouched:
        raise AssertionError(f"no packet met with {' or '.join(untouched)}")
    return [document]


def spoilt(lab: support.Lab, impairment: dict[str, float]) -> dict[str, int]:
    """Packets that each kind of impairment has met so far."""
    rows = lab.rows("port")
    return {kind: sum(row["counters"][f"impaired_{COUNTED_AS[kind]}_packets_total"] for row in rows)
            for kind in impairment}


def over_a_pulled_cable(lab: support.Lab, interface: str = "spine1-leaf1") -> list[dict]:
    """There is another way, for all that know."""
    lab.tool("link", interface, "down")
    try:
        time.sleep(0.5)
        return [lab.reduce(*SHORT)]
    finally:
        lab.tool("link", interface, "up")
        await_paths(lab)


def over_a_flapping_link(lab: support.Lab, interface: str = "spine1-leaf1", flaps: int = 5,
                         period_s: float = 0.4) -> list[dict]:
    """A cable is pulled and plugged in again, until the reductions have seen it often enough."""
    documents = []
    done = 0
    with contextlib.ExitStack() as plugged_in:
        plugged_in.callback(lab.tool, "link", interface, "up")
        while done < flaps:
            with running(lab) as bench:
                while bench.running():
                    for state in ("down", "up"):
                        lab.tool("link", interface, state)
                        time.sleep(period_s)
                    done += 1
                documents.append(bench.finish())
    await_paths(lab)
    return documents


@contextlib.contextmanager
def running(lab: support.Lab, iterations: int = LONG_ITERATIONS):
    """Reductions that do not outlive the fault, whatever becomes of it."""
    bench = lab.bench(*LONG, "-n", str(iterations))
    try:
        yield bench
    finally:
        bench.stop()


def through_a_crash(lab: support.Lab, daemon: str, pause_s: float = 0.5) -> list[dict]:
    """Kills a daemon in the middle of reductions and starts it again."""
    return support.long_enough(
        lambda iterations: _through_a_crash(lab, daemon, pause_s, iterations), LONG_ITERATIONS)


def _through_a_crash(lab: support.Lab, daemon: str, pause_s: float, iterations: int) -> list[dict]:
    witness = "leaf2" if daemon == "leaf1" else "leaf1"
    before = contributions(lab, witness)
    with running(lab, iterations) as bench:
        support.until(lambda: contributions(lab, witness) > before + 200,
                      what="a reduction")
        lab.tool("kill", daemon)
        try:
            time.sleep(pause_s)
            if not bench.running():
                raise support.TooEarly("the reductions ended too early to prove anything: "
                                       f"{bench.end()} {bench.said}")
        finally:
            lab.tool("restart", daemon)
        document = bench.finish()
    await_sessions(lab)
    await_paths(lab)
    return [document]


def contributions(lab: support.Lab, daemon: str) -> int:
    return sum(row["contributions_total"] for row in lab.rows("job", daemon=daemon))


def reductions(document: dict) -> int:
    """How many there were."""
    return sum(len(row[place]["times_ns"]) for row in document["rows"]
               for place in ("out_of_place", "in_place"))
