# SPDX-License-Identifier: BSD-3-Clause
"""Sums of hosts that have only IPv6, over two switches: by addresses and groups that embed those of IPv4."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import support

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = "2001:db8:64::"
OVER_ETHERNET = ("TRIBUTARY_ALGORITHM=canary", "TRIBUTARY_ENCAPSULATION=ethernet", "TRIBUTARY_FALLBACK=error")
HOSTS = {"a": "10.1.1", "b": "10.1.2", "c": "10.1.3", "d": "10.1.4"}


def address(host: str, number: int = 9) -> str:
    return f"{PREFIX}{HOSTS[host]}.{number}"


def give_addresses(lab: support.Lab, host: str, *commands: str) -> None:
    """Takes the addresses of IPv4 off, and carries out the commands of ip -6."""
    made = lab.exec(host, "sh", "-ec", "".join((
        "for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 0 > $f; done;",
        "ip -4 addr flush scope global;", *(f"ip -6 {command};" for command in commands))))
    assert made.returncode == 0, made.stdout + made.stderr


def run_ranks(case, addresses: dict[str, str], *options, environment: tuple[str, ...] = (),
              collective: str = "allreduce") -> dict:
    """The JSON document of rank 0; all must succeed. `addresses` are by host, in the order of the ranks."""
    record = case.lab.directory / "record.json"
    first = next(iter(addresses.values()))
    ranks = []
    for rank, (host, own) in enumerate(addresses.items()):
        variables = ("env", f"RANK={rank}", f"WORLD_SIZE={len(addresses)}", f"MASTER_ADDR={first}",
                     "MASTER_PORT=29500", f"TRIBUTARY_LOCAL_ADDRESS={own}", "TRIBUTARY_LOG=info", *environment)
        command = case.lab.command(
            host, *variables, support.BUILD / "apps/tributary-bench/tributary-bench", collective,
            "--deadline", str(support.PATIENCE_S), *(("--record", record) if rank == 0 else ()), *options)
        ranks.append(subprocess.Popen([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        case.addCleanup(ranks[-1].kill)
    for rank in ranks:
        _, said = rank.communicate(timeout=2 * support.PATIENCE_S)
        case.assertEqual(rank.returncode, 0, said)
    return json.loads(record.read_text())


class Ipv6Sums(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab(str(HERE / "ipv6_sums" / "lab.toml"), name="ipv6-sums").__enter__()
        self.addCleanup(self.lab.__exit__)
        for host in HOSTS:
            give_addresses(self.lab, host, f"addr add {address(host)}/120 dev eth0 nodad",
                           f"route add default via {address(host, 1)}")
        for host in HOSTS:
            self.lab.await_path(host, address("a" if host != "a" else "d"))

    def run_ranks(self, *options, hosts: tuple[str, ...] = tuple(HOSTS), **how) -> dict:
        return run_ranks(self, {host: address(host) for host in hosts}, *options, **how)

    def assert_trees_had_results(self, job: int) -> None:
        results = {row["switch"]: row["state"]["results_total"] for row in self.lab.rows("tree")
                   if row["job"] == job}
        self.assertEqual(set(results), {"one", "two"})
        self.assertTrue(all(results.values()), results)

    def test_what_knows_only_ipv4_says_so(self):
        done = self.lab.exec("a", "env", "RANK=0", "WORLD_SIZE=2",
                             f"MASTER_ADDR={address('a')}", "MASTER_PORT=29500",
                             f"TRIBUTARY_LOCAL_ADDRESS={address('a')}", "TRIBUTARY_JOB=1",
                             "TRIBUTARY_ALGORITHM=netreduce", "TRIBUTARY_NETREDUCE_RING=1",
                             "TRIBUTARY_RDMA_DEVICE=rxe0",
                             support.BUILD / "apps/tributary-bench/tributary-bench", "allreduce")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("RDMA devices are used by their addresses of IPv4", done.stderr)

    def test_switches_add_up(self):
        document = self.run_ranks("-b", "4K", "-e", "256K", "-f", "8", "-n", "2",
                                  environment=("TRIBUTARY_ALGORITHM=canary",
                                               "TRIBUTARY_FALLBACK=error"))
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        sums = {row["switch"]: row for row in self.lab.rows("job")}
        self.assertEqual(set(sums), {"one", "two"})
        # What hosts say to groups of routers and the like is not for the switches.
        self.assertLessEqual(set(self.lab.drops()), {"ip_not_for_us"})
        self.lab.assert_balanced(self)

    def test_switches_add_up_directly_over_ethernet(self):
        document = self.run_ranks("-b", "4K", "-e", "64K", "-f", "4", "-n", "2", environment=OVER_ETHERNET)
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        self.assertEqual({row["switch"] for row in self.lab.rows("job")}, {"one", "two"})
        self.assertLessEqual(set(self.lab.drops()), {"ip_not_for_us"})
        self.lab.assert_balanced(self)

    def test_forged_packet_too_big_changes_nothing(self):
        for host in "abc":
            others = [address(other) for other in HOSTS if other != host]
            self.lab.belittle_paths("d", host, address(host), others, 1280)
        document = self.run_ranks("-b", "256K", "-e", "256K", "-n", "2",
                                  environment=("TRIBUTARY_ALGORITHM=canary",
                                               "TRIBUTARY_FALLBACK=error"))
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual(document["payload_bytes_max"], 1376)

    def test_panamas_tree_adds_up(self):
        document = self.run_ranks("-b", "4K", "-e", "256K", "-f", "8", "-n", "2",
                                  environment=("TRIBUTARY_ALGORITHM=panama", "TRIBUTARY_JOB=5",
                                               "TRIBUTARY_TREES=239.192.0.5",
                                               "TRIBUTARY_FALLBACK=error"))
        self.assertEqual(support.wrong(document), 0)
        self.assert_trees_had_results(job=5)
        self.assertLessEqual(set(self.lab.drops()), {"ip_not_for_us", "panama_duplicate",
                                                     "panama_stale"})
        self.lab.assert_balanced(self)

    def test_flares_tree_adds_up_dense_and_sparse_blocks(self):
        flare = ("TRIBUTARY_ALGORITHM=flare", "TRIBUTARY_JOB=6", "TRIBUTARY_FLARE_TREE=239.192.0.6",
                 "TRIBUTARY_FLARE_WINDOW=16", "TRIBUTARY_FLARE_SPARSE_WINDOW=8",
                 "TRIBUTARY_FALLBACK=error")
        for collective, more in (("allreduce", ()), ("sparse_allreduce", ("--density", "0.05"))):
            document = self.run_ranks("-b", "4K", "-e", "256K", "-f", "8", "-n", "2", *more,
                                      environment=flare, collective=collective)
            self.assertEqual(support.wrong(document), 0)
        self.assert_trees_had_results(job=6)
        self.assertLessEqual(set(self.lab.drops()), {"ip_not_for_us", "flare_duplicate",
                                                     "flare_stale"})
        self.lab.assert_balanced(self)

    def test_netreduces_ring_adds_up_in_packets_that_fit_and_pass(self):
        for mtu, payload_bytes in ((1500, 1016), (1000, 504)):
            lowered = self.lab.exec("one", "ip", "link", "set", "dev", "a", "mtu", str(mtu))
            self.assertEqual(lowered.returncode, 0, lowered.stderr)
            document = self.run_ranks("-b", "4K", "-e", "256K", "-f", "8", "-n", "2",
                                      environment=("TRIBUTARY_ALGORITHM=netreduce", "TRIBUTARY_JOB=8",
                                                   "TRIBUTARY_NETREDUCE_RING=1", "TRIBUTARY_NETREDUCE_MTU=4096",
                                                   "TRIBUTARY_FALLBACK=error"), hosts=("a", "b"))
            self.assertEqual(support.wrong(document), 0)
            self.assertEqual(document["payload_bytes_max"], payload_bytes)
            self.assertLessEqual(set(self.lab.drops()), {"ip_not_for_us"})
        self.lab.assert_balanced(self)

    def test_a_controller_places_jobs_of_such_hosts(self):
        for number, algorithm in enumerate(("panama", "flare", "netreduce"), start=21):
            with self.subTest(algorithm), tempfile.TemporaryDirectory() as directory:
                file = pathlib.Path(directory) / "fabric.toml"
                file.write_text(self.fabric(algorithm, number))
                done = support.ctl("fabric", "apply", file, "--env", directory)
                self.assertEqual(done.returncode, 0, done.stderr)
                told = (pathlib.Path(directory) / f"job-{number}.env").read_text().split()
                document = self.run_ranks("-b", "4K", "-e", "256K", "-f", "8", "-n", "2",
                                          environment=(*told, "TRIBUTARY_FALLBACK=error"))
                self.assertEqual(support.wrong(document), 0)
                self.assertEqual({row["algorithm"] for row in document["rows"]}, {algorithm})
                removed = support.ctl("fabric", "remove", "--force", file)
                self.assertEqual(removed.returncode, 0, removed.stderr)
        self.lab.assert_balanced(self)

    def fabric(self, algorithm: str, job: int) -> str:
        sockets = self.lab.state["sockets"]
        switches = "".join(f'[[switch]]\nname = "{name}"\ncontrol = "{sockets[name]}"\n'
                           f'address = "{PREFIX}10.1.255.{number}"\n'
                           for number, name in enumerate(("one", "two"), start=1))
        hosts = "".join(f'[[host]]\nname = "{host}"\nport = "{switch}:{host}"\n'
                        f'address = "{address(host)}"\n'
                        for switch, behind in (("one", "ab"), ("two", "cd")) for host in behind)
        return (f'version = 1\n{switches}[[link]]\na = "one:two"\nb = "two:one"\n{hosts}'
                f'[[job]]\nid = {job}\nhosts = ["a", "b", "c", "d"]\n'
                f'algorithm = "{algorithm}"\ntrees = 1\n')

    def test_the_hosts_ring_goes_by_ipv6(self):
        document = self.run_ranks("-b", "4K", "-e", "256K", "-f", "8", "-n", "1",
                                  environment=("TRIBUTARY_ALGORITHM=ring",))
        self.assertEqual(support.wrong(document), 0)


class Ipv6Cube(unittest.TestCase):
    """Hosts with an interface on each of two switches, none of which has an address of IPv4 in use."""

    HOSTS = ("h0", "h1", "h2", "h3")

    @staticmethod
    def address(host: str, interface: int) -> str:
        return f"{PREFIX}10.1.{interface}.{int(host[1]) + 1}"

    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab(str(HERE / "ipv6_cube" / "lab.toml"), name="ipv6-cube").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        for host in cls.HOSTS:
            give_addresses(cls.lab, host, *(f"addr add {cls.address(host, interface)}/120 dev eth{interface} nodad"
                                            for interface in (0, 1)))
        for host in cls.HOSTS[1:]:
            for interface in (0, 1):
                cls.lab.await_path(host, cls.address("h0", interface))

    def reduce(self, algorithm: str, interfaces: str) -> dict:
        document = run_ranks(self, {host: self.address(host, 0) for host in self.HOSTS}, "-d", "f32,i64", "-b", "1M",
                             "-e", "1M", "-n", "1", "-w", "0",
                             environment=(f"TRIBUTARY_ALGORITHM={algorithm}", f"TRIBUTARY_INTERFACES={interfaces}"))
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual({row["algorithm"] for row in document["rows"]}, {algorithm})
        return document

    def test_hosts_add_up_over_all_interfaces(self):
        for algorithm in ("bcube", "mesh"):
            with self.subTest(algorithm=algorithm):
                figures = self.reduce(algorithm, "eth0,eth1")["statistics"]
                for interface in (0, 1):
                    self.assertGreater(figures[f"interface_{interface}_bytes_sent"], 1 << 20)

    def test_switches_add_up_on_every_interface(self):
        for algorithm in ("bcube-switches", "mesh-switches"):
            with self.subTest(algorithm=algorithm):
                support.assert_switches_reduce(self, self.reduce(algorithm, "eth0,eth1"))
        self.assertEqual({row["switch"] for row in self.lab.rows("job")}, {"zero", "one"})
        self.lab.assert_balanced(self)

    def test_a_bridge_adds_up_directly_over_ethernet(self):
        document = run_ranks(self, {host: self.address(host, 0) for host in self.HOSTS}, "-b", "64K", "-e", "64K",
                             "-n", "2", environment=OVER_ETHERNET)
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        self.lab.assert_balanced(self)

    def test_an_interface_without_such_an_address_is_named(self):
        for given, said in (("eth0,lo", f"no interface 'lo' of this host has an address in {PREFIX}/96"),
                            ("eth0,127.0.0.1", "have addresses of different versions of IP")):
            done = self.lab.exec("h0", "env", "RANK=0", "WORLD_SIZE=2", f"MASTER_ADDR={self.address('h0', 0)}",
                                 "MASTER_PORT=29500", "TRIBUTARY_ALGORITHM=mesh", f"TRIBUTARY_INTERFACES={given}",
                                 support.BUILD / "apps/tributary-bench/tributary-bench", "allreduce",
                                 "--deadline", "5")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    support.main()
