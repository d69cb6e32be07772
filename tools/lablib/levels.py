# SPDX-License-Identifier: BSD-3-Clause
"""Finds the levels of a lab's switches, by their distance from the hosts, and gives a reduction_seed to each level that
has several up-ports (docs/design/0088-a-seed-for-each-level-of-a-fabric.md)."""

import collections

from . import description
from .description import Lab

_KEY = "reduction_seed"


def add_seeds(lab: Lab, configs: dict[str, dict]) -> None:
    """Gives the switches in `configs`, by daemon, that have no seed and whose level needs one a seed that their level
    shares. A seed of a configuration stays; where some switches of a level have one, the others get the same."""
    levels = _choosing(lab, configs)
    taken = {seed for level in levels.values() for seed in _given(level)}
    for number, switches in sorted(levels.items()):
        given = _given(switches)
        if len(given) > 1:
            continue  # it is unknown which one is meant; faults() reports it
        seed = given.pop() if given else min(set(range(number, number + len(taken) + 1)) - taken)
        taken.add(seed)
        for switch in switches:
            if _KEY not in _selection(switch):
                switch["selection"] = _selection(switch) | {_KEY: seed}


def faults(lab: Lab, configs: dict[str, dict]) -> list[str]:
    """Returns what is wrong with the seeds of the switches."""
    found = []
    levels_of = collections.defaultdict(list)
    for number, switches in sorted(_choosing(lab, configs).items()):
        seeds = {_seed(switch) for switch in switches}
        if len(seeds) > 1:
            found.append(f"switches of level {number} have different reduction_seeds ("
                         f"{', '.join(map(str, sorted(seeds)))}): blocks do not meet there; give all of a level the "
                         "same, in [switch.selection]")
        for seed in seeds:
            levels_of[seed].append(str(number))
    for seed, numbers in sorted(levels_of.items()):
        if len(numbers) > 1:
            found.append(f"levels {' and '.join(numbers)} have the same reduction_seed, {seed}: switches of the "
                         "higher one leave ways up idle; give each level one of its own, in [switch.selection]")
    return found


def _selection(switch: dict) -> dict:
    table = switch.get("selection", {})
    return table if isinstance(table, dict) else {}  # the daemon reports what is wrong


def _given(switches: list[dict]) -> set[int]:
    return {_selection(switch)[_KEY] for switch in switches if _KEY in _selection(switch)}


def _seed(switch: dict) -> int:
    return _selection(switch).get(_KEY, 0)


def _switches(configs: dict[str, dict]) -> dict[str, dict]:
    return {switch["name"]: switch for config in configs.values()
            for switch in description.tables(config.get("switch")) if "name" in switch}


def _choosing(lab: Lab, configs: dict[str, dict]) -> dict[int, list[dict]]:
    """Returns the switches of each level on which some have several links to the next one. Where there is only one such
    level, as in a fabric of leaves and spines, no level needs a seed, and the result is empty."""
    switches = _switches(configs)
    neighbours = _neighbours(lab, configs)
    level = _distances(lab, configs, neighbours)
    choosing = sorted({level[name] for name in level
                       if sum(level.get(other) == level[name] + 1 for other in neighbours[name]) > 1})
    if len(choosing) < 2:
        return {}
    return {number: [switches[name] for name in switches if level.get(name) == number] for number in choosing}


def _places(configs: dict[str, dict]) -> dict[str, str]:
    """Returns the switch that has a port on an interface, or on a guest's TAP."""
    return {port[key]: name for name, switch in _switches(configs).items()
            for port in description.tables(switch.get("port")) for key in ("interface", "tap") if key in port}


def _neighbours(lab: Lab, configs: dict[str, dict]) -> dict[str, list[str]]:
    """Returns the switches at the other ends of a switch's links; one with two links comes twice."""
    place = _places(configs)
    links = [(link["a"].split(":")[0], link["b"].split(":")[0]) for config in configs.values()
             for link in description.tables(config.get("link")) if {"a", "b"} <= link.keys()]
    links += [(place[cable.a], place[cable.b]) for cable in lab.cables if {cable.a, cable.b} <= place.keys()]
    neighbours = collections.defaultdict(list)
    for a, b in links:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def _distances(lab: Lab, configs: dict[str, dict], neighbours: dict[str, list[str]]) -> dict[str, int]:
    """Returns the distances of the switches from the nearest host, in links."""
    place = _places(configs)
    nearest = [place[end] for host in (*lab.hosts, *lab.guests) for end in host.switch_interfaces() if end in place]
    level = dict.fromkeys(nearest, 1)
    reached = collections.deque(level)
    while reached:
        name = reached.popleft()
        for other in neighbours[name]:
            if other not in level:
                level[other] = level[name] + 1
                reached.append(other)
    return level
