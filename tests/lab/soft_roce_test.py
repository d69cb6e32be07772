# SPDX-License-Identifier: BSD-3-Clause
"""NetReduce over Linux's Soft-RoCE: the judge is a stack that knows nothing of the switch. One short
run with two guests; with TRIBUTARY_SOFT_ROCE=full also three and four, 16 MiB, and both path MTUs."""

import base64
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import gradients
import support

FULL = os.environ.get("TRIBUTARY_SOFT_ROCE") == "full"
MTU = 1024
# Emulated machines on a busy one are slow.
LONG_S = 600
CAPTURE = "/tmp/capture.pcap"
MIXED_VERBS = support.BUILD / "tests" / "lab" / "mixed_verbs"
IMPAIRED = {"loss": "impaired_lost", "duplicate": "impaired_duplicated",
            "corrupt": "impaired_corrupted", "reorder": "impaired_reordered"}
# Each gap costs a message again, and each gap behind a gap a timeout. Who is away for seven of them
# is given up.
BAD_CABLES = {"TRIBUTARY_NETREDUCE_MESSAGE": "8", "TRIBUTARY_RDMA_TIMEOUT": "1s"}


def description() -> str:
    """Of the lab soft-roce-2, for a file anywhere."""
    text = (support.ROOT / "conf" / "labs" / "soft-roce-2.toml").read_text()
    return text.replace('"../', f'"{support.ROOT}/conf/')


def written(text: str, directory: str) -> str:
    file = pathlib.Path(directory) / "lab.toml"
    file.write_text(text)
    return str(file)


class Guests:
    """Guests on one switch, whose first ones are a ring."""

    def __init__(self, lab: support.Lab, count: int = 2, mtu: int = MTU):
        self.lab = lab
        self.names = [f"g{n}" for n in range(1, count + 1)]
        self.mtu = mtu

    def reduce(self, size: str, *arguments, **settings: str) -> dict:
        """The JSON document of a reduction by these guests, which must succeed."""
        told = {"TRIBUTARY_RDMA_DEVICE": "rxe_eth0", "TRIBUTARY_NETREDUCE_RING": "1",
                "TRIBUTARY_NETREDUCE_MTU": str(self.mtu), **settings}
        done = support.run(
            support.LAB, "run", self.lab.name, "--build-dir", support.BUILD, "--hosts",
            ",".join(self.names), "--time-limit", 3 * LONG_S, "--", "allreduce", "--algorithm",
            "netreduce", "--fallback", "error", "--deadline", LONG_S, "--record",
            "/tmp/record.json", "-b", size, "-e", size, "-w", "0", "-n", "1", *arguments,
            timeout=4 * LONG_S, env=os.environ | told)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(self.lab.exec(self.names[0], "cat", "/tmp/record.json").stdout)

    def shell(self, guest: str, command: str) -> str:
        done = self.lab.exec(guest, "sh", "-c", command, timeout=LONG_S)
        if done.returncode != 0:
            raise AssertionError(f"{guest}: {command}: {done.returncode}\n{done.stdout}")
        return done.stdout

    def figures(self, switch: str = "switch") -> dict[str, int]:
        return next(row["figures"] for row in self.lab.rows("engine")
                    if row["switch"] == switch and row["engine"] == "netreduce")

    @contextlib.contextmanager
    def bad_cables(self):
        """At every port, in both directions. Each kind must meet with packets."""
        words = [word for key in IMPAIRED
                 for word in ("--set", f"switch.port[interface].impair.{key}=0.01")]
        self.lab.tool("reload", "--set", "switch.port[interface].impair.seed={n}", *words)
        try:
            yield
        finally:
            self.lab.tool("reload", *(word.replace("0.01", "0.0") for word in words))
        rows = self.lab.rows("port")
        for key, counter in IMPAIRED.items():
            if not sum(row["counters"][f"{counter}_packets_total"] for row in rows):
                raise AssertionError(f"no packet met with {key}")

    @contextlib.contextmanager
    def captured(self, into: dict[str, list[gradients.Gradient]]):
        """What each guest sent and received meanwhile."""
        for guest in self.names:
            # tcpdump wants to be somebody.
            self.shell(guest, "echo root:x:0:0::/:/bin/sh > /etc/passwd; "
                       f"tcpdump -Z root -U -B 8192 -i eth0 -s 0 -w {CAPTURE} udp port 4791 "
                       "> /tmp/tcpdump.log 2>&1 & "
                       "until grep -q listening /tmp/tcpdump.log; do sleep 0.1; done")
        yield
        for guest in self.names:
            # What it has not read yet would be lost with it.
            self.shell(guest, "before=none; "
                       f"while [ $before != $(wc -c < {CAPTURE}) ]; do "
                       f"before=$(wc -c < {CAPTURE}); sleep 1; done; "
                       "killall tcpdump; while pidof tcpdump; do sleep 0.1; done")
            said = self.shell(guest, f"base64 {CAPTURE}")
            into[guest] = gradients.gradients(base64.b64decode(said))


class TwoGuests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        text = description().replace('"tributary-bench",', f'"tributary-bench", "{MIXED_VERBS}",')
        cls.lab = support.Lab(written(text, directory), name="roce").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.guests = Guests(cls.lab)

    def tearDown(self):
        self.lab.assert_balanced(self)
        for guest in self.guests.names:
            said = self.guests.shell(guest, "dmesg")
            self.assertNotRegex(said, r"(?i)(rxe|infiniband).*(err|fail)")

    def assert_exact(self, document: dict) -> None:
        self.assertEqual(support.wrong(document), 0)
        self.assertTrue(all(row["algorithm"] == "netreduce" for row in document["rows"]))

    def test_the_switch_adds_and_the_guests_verify(self):
        before = self.guests.figures()
        self.assert_exact(self.guests.reduce("1M"))
        after = self.guests.figures()
        # 1 MiB out of place and in place, and one packet to find out about the switch.
        packets = -(-(1 << 20) // (MTU - gradients.FINGERPRINT))
        self.assertGreaterEqual(after["sums_total"] - before["sums_total"], 2 * packets)
        self.assertGreaterEqual(after["results_total"] - before["results_total"], 4 * packets)

    def test_only_payload_and_icrc_change_on_the_way(self):
        frames: dict[str, list[gradients.Gradient]] = {}
        with self.guests.captured(frames):
            self.assert_exact(self.guests.reduce("64K"))
        for sender, receiver in (("g1", "g2"), ("g2", "g1")):
            own = self.sent(frames, sender)
            others = self.in_order(self.sent(frames, receiver))
            arrived = [frame for frame in frames[receiver] if frame.psn in own and
                       frame.source == next(iter(own.values()))[0].source]
            self.assertGreater(len(arrived), 128)
            first = self.first_psn(own)
            for result in arrived:
                copies = own[result.psn]
                self.assertIn(result.headers, [copy.headers for copy in copies])
                self.assertTrue(result.icrc_is_right)
                parts = [copies[-1], others[(result.psn - first) % (1 << 24)]]
                self.assertEqual(result.fingerprint,
                                 sum(part.fingerprint for part in parts) % (1 << 64))
                self.assertEqual(result.elements,
                                 gradients.sum_f32([part.elements for part in parts]))

    @staticmethod
    def sent(frames: dict, guest: str) -> dict[int, list[gradients.Gradient]]:
        """What a guest sent, by sequence number, repeats included."""
        address = bytes((10, 0, 0, int(guest[1:])))
        found: dict[int, list[gradients.Gradient]] = {}
        for frame in frames[guest]:
            if frame.source == address:
                found.setdefault(frame.psn, []).append(frame)
        return found

    @staticmethod
    def first_psn(sent: dict[int, list[gradients.Gradient]]) -> int:
        return next(iter(sent))

    def in_order(self, sent: dict[int, list[gradients.Gradient]]) -> list[gradients.Gradient]:
        first = self.first_psn(sent)
        return [sent[psn][-1] for psn in sorted(sent, key=lambda psn: (psn - first) % (1 << 24))]

    def test_ordinary_rdma_goes_on_beside_the_ring(self):
        for program in ("ib_write_bw", "ib_send_bw", "ib_read_bw"):
            # Programs repeat what has no answer within 67 ms, if nothing else is said. Soft-RoCE
            # that repeats half a message when its answer comes may end with a wrong length.
            options = f"{program} -d rxe_eth0 -s 65536 -n 40 -F --qp-timeout 20"
            self.guests.shell("g1", f"timeout {LONG_S} {options} > /tmp/server 2>&1 &")
            self.guests.shell("g1", "until netstat -ltn | grep -q 18515; do sleep 0.1; done")
            self.beside_a_reduction(f"timeout {LONG_S} {options} 10.0.0.1")
        self.guests.shell("g1", f"timeout {LONG_S} rping -s -C 20 -a 10.0.0.1 > /tmp/server 2>&1 &")
        # The server may not listen yet. A client that has had its pings may call the other's goodbye an error.
        client = "until rping -c -C 20 -a 10.0.0.1 -v -V | grep rdma-ping-19; do sleep 1; done"
        self.beside_a_reduction(f"timeout {LONG_S} sh -c '{client}'")

    def test_requests_of_one_queue_pair_keep_their_order(self):
        """A READ that overtakes the WRITE in front of it is out of sequence for its receiver."""
        before = self.out_of_sequence("g2")
        program = "mixed_verbs rxe_eth0"
        for guest in ("g1", "g2"):
            self.guests.shell(guest, "rm -f /tmp/here /tmp/there")
        self.guests.shell("g2", f"timeout 120 {program} 10.0.0.2 10.0.0.1 0 > /tmp/peer 2>&1 &")
        self.guests.shell("g1", f"(timeout 120 {program} 10.0.0.1 10.0.0.2 100; echo ended with $?) "
                                "> /tmp/client 2>&1 &")
        ends = {guest: self.guests.shell(guest, "until cat /tmp/here; do sleep 0.1; done")
                for guest in ("g1", "g2")}
        for guest, other in (("g2", "g1"), ("g1", "g2")):
            self.guests.shell(guest, f"echo {ends[other].splitlines()[-1]} > /tmp/new; "
                                     "mv /tmp/new /tmp/there")
        said = self.guests.shell("g1", "until grep 'ended with' /tmp/client; do sleep 0.1; done; "
                                       "cat /tmp/client")
        self.guests.shell("g2", "killall mixed_verbs; cat /tmp/peer")
        self.assertIn("ended with 0", said)
        self.assertEqual(self.out_of_sequence("g2"), before)

    def out_of_sequence(self, guest: str) -> int:
        return int(self.guests.shell(
            guest, "cat /sys/class/infiniband/rxe_eth0/ports/1/hw_counters/out_of_seq_request"))

    def beside_a_reduction(self, client: str) -> None:
        self.guests.shell("g2", f"({client}; echo ended with $?) > /tmp/client 2>&1 &")
        self.assert_exact(self.guests.reduce("512K"))
        support.until(lambda: "ended with" in self.client_said(), LONG_S, "the client's end")
        self.assertIn("ended with 0", self.client_said(), self.counters())

    def counters(self) -> str:
        """Of both guests and of the switch, to see who repeated and who lost something."""
        return "\n".join([*(self.guests.shell(guest, "grep . /sys/class/infiniband/rxe_eth0/ports/1/"
                                              "hw_counters/*") for guest in self.guests.names),
                          str(self.lab.rows("drops"))])

    def client_said(self) -> str:
        return self.guests.shell("g2", "cat /tmp/client")

    def test_bad_cables_in_both_directions(self):
        with self.guests.bad_cables():
            self.assert_exact(self.guests.reduce(
                "1M" if FULL else "128K", **BAD_CABLES))


class BesideSoftware(unittest.TestCase):
    def test_the_endpoint_in_software_speaks_with_soft_roce(self):
        with tempfile.TemporaryDirectory() as directory, \
                support.Lab(self.describe(directory), name="mixed") as lab:
            before = Guests(lab).figures()["sums_total"]
            device = self.bench(lab, "g1", 0, "tributary-bench", TRIBUTARY_RDMA_DEVICE="rxe_eth0")
            software = self.bench(lab, "h2", 1, str(support.BENCH))
            said = [process.communicate(timeout=2 * LONG_S)[0] for process in (device, software)]
            self.assertEqual([device.returncode, software.returncode], [0, 0], said)
            document = json.loads(lab.exec("g1", "cat", "/tmp/record.json").stdout)
            self.assertEqual(support.wrong(document), 0)
            self.assertGreaterEqual(Guests(lab).figures()["sums_total"] - before, 512)
            lab.assert_balanced(self)

    @staticmethod
    def describe(directory: str) -> str:
        """The lab soft-roce-2 with a namespace in the place of its second guest."""
        text = description()
        text = text[:text.index('[[guest]]\nname = "g2"')].replace("host = []\n", "")
        text += ('[[host]]\nname = "h2"\nswitch_interface = "g2"\naddress = "10.0.0.2/24"\n'
                 "mtu = 4200\n")
        return written(text, directory)

    @staticmethod
    def bench(lab: support.Lab, host: str, rank: int, program: str,
              **settings: str) -> subprocess.Popen:
        told = {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": 29500,
                "TRIBUTARY_NETREDUCE_RING": 1, **settings}
        argv = [support.LAB, "exec", lab.name, host, "--", "env",
                *(f"{name}={value}" for name, value in told.items()), "timeout", LONG_S, program,
                "allreduce", "--algorithm", "netreduce", "--fallback", "error", "--deadline", LONG_S,
                "-b", "256K", "-e", "256K", "-n", "1", "-w", "0",
                "--record", "/tmp/record.json" if rank == 0 else "/dev/null"]
        return subprocess.Popen([str(arg) for arg in argv], stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@unittest.skipUnless(FULL, "set TRIBUTARY_SOFT_ROCE=full for the long ones")
class FourGuests(unittest.TestCase):
    def test_two_three_and_four_at_both_path_mtus(self):
        with support.Lab("soft-roce-4", name="roce4") as lab:
            for count in (2, 3, 4):
                for mtu in (1024, 4096):
                    with self.subTest(guests=count, mtu=mtu):
                        self.reduce(lab, count, mtu)
            lab.assert_balanced(self)

    def reduce(self, lab: support.Lab, count: int, mtu: int) -> None:
        members = [f"10.0.0.{n}" for n in range(1, count + 1)]
        lab.tool("reload", "--set", f"switch.netreduce.ring.members={json.dumps(members)}",
                 "--set", f"switch.netreduce.ring.mtu={mtu}")
        guests = Guests(lab, count, mtu)
        before = guests.figures()
        document = guests.reduce("16M")
        self.assertEqual(support.wrong(document), 0)
        after = guests.figures()
        self.assertGreaterEqual(after["sums_total"] - before["sums_total"], 2 * (16 << 20) // mtu)


@unittest.skipUnless(FULL, "set TRIBUTARY_SOFT_ROCE=full for the long ones")
class TwoRacks(unittest.TestCase):
    def test_two_leaves_and_a_spine_add_up(self):
        with support.Lab("soft-roce-racks", name="racks") as lab:
            guests = Guests(lab, 4)
            self.assertEqual(support.wrong(guests.reduce("1M")), 0)
            packets = 2 * (1 << 20) // MTU
            self.assertGreaterEqual(guests.figures("spine")["sums_total"], packets)
            for leaf in ("leaf1", "leaf2"):
                self.assertGreaterEqual(guests.figures(leaf)["partials_total"], packets)
                self.assertGreaterEqual(guests.figures(leaf)["totals_total"], packets)
            with guests.bad_cables():
                document = guests.reduce("128K", **BAD_CABLES)
            self.assertEqual(support.wrong(document), 0)
            lab.assert_balanced(self)


if __name__ == "__main__":
    support.main()
