# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of the daemons that the packet generator is tested with, to be formatted."""

DAEMON = """
version = 1
[daemon]
cores = [{core}]
hugepages = "never"
packets = 8192
control = "{directory}/control.sock"
log_level = "warning"
"""


def memif_servers(*names: str) -> str:
    """Ports of a switch, each with a socket of its own."""
    return "".join(f'[[switch.port]]\nname = "{name}"\nmemif = "{{directory}}/{name}.sock"\n'
                   f'memif_role = "server"\n' for name in names)


BRIDGE = DAEMON + """
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "a"
interface = "a1"
[[switch.port]]
name = "b"
interface = "b1"
{shaper}
"""

ROUTER = DAEMON + """
[[switch]]
name = "s"
id = 1
address = "10.255.0.1"
[switch.canary]
descriptors = 1024
[[switch.port]]
name = "gen"
address = "10.1.1.1/24"
mac = "02:00:00:01:00:01"
{device}
"""

PREFIX = "2001:db8:64::"


def embedding(config: str) -> str:
    """The same for hosts that have only IPv6: their addresses embed those of IPv4."""
    return (config.replace('address = "10.255.0.1"',
                           f'address = "10.255.0.1"\nembedding_prefix = "{PREFIX}/96"')
            .replace('address = "10.1.1.1/24"', f'address6 = "{PREFIX}10.1.1.1/120"'))


ROUTER6 = DAEMON + """
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "a"
interface = "a1"
address6 = "2001:db8:1::1/64"
[[switch.port]]
name = "b"
interface = "b1"
address6 = "2001:db8:2::1/64"
"""

BRIDGED_PANAMA = DAEMON + """
[[switch]]
name = "s"
id = 1
address = "10.255.0.1"
""" + memif_servers("w0", "w1", "up") + """[switch.panama]
packet_memory = 64
{trees}"""

PANAMA_TREE = """[[switch.panama.tree]]
job = {job}
tree = {tree}
group = "239.192.0.{group}"
children = ["w0", "w1"]
workers = 2
workers_below = 2
{parent}
"""

FED_FLARE = DAEMON.replace("[{core}]", '"auto"') + """
[[switch]]
name = "s"
id = 1
address = "10.255.0.1"
{ports}
[switch.flare]
partial_sums = {partial_sums}
{trees}"""

BRIDGED_FLARE = DAEMON + """
[[switch]]
name = "s"
id = 1
address = "10.255.0.1"
""" + memif_servers("w0", "w1", "up") + """[switch.flare]
{trees}"""

FLARE_TREE = """[[switch.flare.tree]]
job = {job}
group = "239.192.0.{job}"
children = ["w0", "w1"]
workers = 2
workers_below = 2
window = 16
{place}
"""

ONE_RACK = DAEMON + """
[[switch]]
name = "s"
id = 1
[switch.netreduce]
[[switch.netreduce.ring]]
{ring}
""" + memif_servers("w0", "w1", "w2", "w3")

# Two leaves with two ports of the generator each, and a spine.
TWO_RACKS = DAEMON + """
[[switch]]
name = "leaf1"
id = 1
[switch.netreduce]
[[switch.netreduce.ring]]
{ring}
local = ["10.0.0.1", "10.0.1.1"]
parent = "10.255.0.3"
""" + memif_servers("w0", "w1") + """[[switch.port]]
name = "up"
[[switch]]
name = "leaf2"
id = 2
[switch.netreduce]
[[switch.netreduce.ring]]
{ring}
local = ["10.0.2.1", "10.0.3.1"]
parent = "10.255.0.3"
""" + memif_servers("w2", "w3") + """[[switch.port]]
name = "up"
[[switch]]
name = "spine"
id = 3
[switch.netreduce]
[[switch.netreduce.ring]]
{ring}
[[switch.netreduce.ring.rack]]
members = ["10.0.0.1", "10.0.1.1"]
[[switch.netreduce.ring.rack]]
members = ["10.0.2.1", "10.0.3.1"]
[[switch.port]]
name = "leaf1"
[[switch.port]]
name = "leaf2"
[[link]]
a = "leaf1:up"
b = "spine:leaf1"
[[link]]
a = "leaf2:up"
b = "spine:leaf2"
"""

RING = """id = 1
members = ["10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.3.1"]
message_packets = 32"""
