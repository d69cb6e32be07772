# SPDX-License-Identifier: BSD-3-Clause
"""Tests that check-layers fails on planted violations, names file and line, and passes otherwise."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[1] / "check-layers"


def run(files):
    """Runs the tool on a tree of {path: text}; returns (exit code, messages)."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        done = subprocess.run([sys.executable, TOOL, directory], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr


class CheckLayers(unittest.TestCase):

    def expect_red(self, path, text, line, words):
        code, messages = run({path: text})
        self.assertEqual(code, 1, messages)
        self.assertTrue(messages.startswith(f"{path}:{line}: "), messages)
        self.assertIn(words, messages)

    def test_arrows_down_are_green(self):
        code, messages = run({
            "src/wire/a.h": "#include <cstdint>\n",
            "src/protocols/canary/engine/a.cpp":
                '#include "protocols/canary/engine/a.h"\n#include "reduce/k.h"\n',
            "src/protocols/canary/wire.cpp": '#include "protocols/canary/wire.h"\n',
            "src/protocols/engines.cpp": '#include "protocols/list.h"\n',
            "src/switch/a.cpp": '#include "protocols/engines.h"\n',
            "src/protocols/sections.cpp": '#include "control/protocol_section.h"\n',
            "src/dataplane/a.cpp": '#include <rte_mbuf.h>\n#include "control/backend.h"\n',
            "src/protocols/canary/host/a.cpp":
                '#include "protocols/canary/host/a.h"\n#include "host/outbox.h"\n',
            "src/protocols/canary/traffic/a.cpp":
                '#include "protocols/canary/traffic/a.h"\n#include "traffic/kind.h"\n'
                '#include "switch/switch.h"\n',
            "src/protocols/traffics.cpp": '#include "traffic/kind.h"\n',
            "src/traffic/a.cpp": '#include "control/text.h"\n#include "packet/list.h"\n',
            "apps/tributary-pktgen/a.cpp": '#include "traffic/kind.h"\n',
            "apps/tributary-bench/a.cpp": '#include "host/protocol.h"\n',
            "src/protocols/hosts.cpp": '#include "host/protocol.h"\n',
            "src/host/tcp.cpp": "#include <sys/socket.h>\n",
            "src/protocols/netreduce/carrier/verbs/a.cpp":
                '#include <poll.h>\n#include "host/transport/a.h"\n',
            "apps/tributaryd/main.cpp": '#include "dataplane/a.h"\n#include <thread>\n',
        })
        self.assertEqual((code, messages), (0, ""))

    def test_names_of_protocols(self):
        tree = {"src/protocols/canary/wire.h": "struct CanaryHeader {};\n",
                "src/switch/a.cpp": '// As Canary has it.\nauto text = "canary";\n/* canary\n */\n',
                "tests/unit/switch/a_test.cpp": "int canary = 0;\n"}
        self.assertEqual(run(tree), (0, ""))
        for path in ("src/switch/b.h", "src/wire/b.h", "apps/tributaryctl/b.cpp"):
            code, messages = run(tree | {path: "/* a\n*/ int i;\nint canaryCount;\n"})
            self.assertEqual(code, 1, messages)
            self.assertTrue(messages.startswith(f"{path}:3: names the protocol canary"), messages)

    def test_arrow_up(self):
        self.expect_red("src/wire/a.h", '#pragma once\n#include "packet/list.h"\n', 2,
                        "wire may include nothing")

    def test_arrow_aside(self):
        self.expect_red("src/host/a.cpp", '#include "engine/engine.h"\n', 1, "not engine")

    def test_bindings_beside_the_c_interface(self):
        code, messages = run({"src/bindings/python/a.cpp": '#include "host/c/tributary.h"\n'
                                                           '#include "bindings/python/a.h"\n'})
        self.assertEqual((code, messages), (0, ""))
        self.expect_red("src/bindings/python/a.cpp", '#include "host/communicator.h"\n', 1,
                        "the C interface")

    def test_dpdk_outside_the_data_plane(self):
        for path in ("src/switch/a.h", "apps/x/main.cpp", "tests/unit/wire/a_test.cpp"):
            self.expect_red(path, "\n\n  #  include <rte_mbuf.h>\n", 3, "DPDK")

    def test_io_in_sans_io_layers(self):
        for header in ("sys/socket.h", "thread", "mutex", "spdlog/spdlog.h", "atomic"):
            self.expect_red("src/engine/a.cpp", f"#include <{header}>\n", 1, "no I/O")

    def test_protocol_that_includes_another(self):
        self.expect_red("src/protocols/panama/engine/a.cpp",
                        '#include "protocols/canary/engine/a.h"\n', 1, "another protocol")

    def test_layer_that_knows_a_protocol(self):
        self.expect_red("src/switch/a.cpp", '#include "protocols/canary/engine/config.h"\n', 1,
                        "knows no protocol")

    def test_host_that_knows_a_protocol(self):
        self.expect_red("src/host/a.cpp", '#include "protocols/canary/wire.h"\n', 1,
                        "host may include")

    def test_app_that_knows_a_protocol(self):
        self.expect_red("apps/tributary-pktgen/a.cpp",
                        '#include "protocols/canary/traffic/traffic.h"\n', 1, "knows no protocol")
        self.expect_red("apps/tributary-bench/a.cpp", '#include "protocols/canary/wire.h"\n', 1,
                        "knows no protocol")

    def test_traffic_that_knows_a_protocol(self):
        self.expect_red("src/traffic/a.cpp", '#include "protocols/canary/wire.h"\n', 1,
                        "traffic may include")

    def test_facet_that_reaches_too_far(self):
        self.expect_red("src/protocols/panama/wire.h", '#include "engine/engine.h"\n', 1,
                        "the facet wire")
        self.expect_red("src/protocols/panama/odd/a.h", '#include "wire/endian.h"\n', 1,
                        "no facet")

    def test_machine_that_includes_a_socket(self):
        self.expect_red("src/protocols/canary/host/a.cpp", '#include "host/transport/tcp.h"\n', 1,
                        "the machine canary")
        self.expect_red("src/protocols/canary/host/a.cpp", "#include <sys/socket.h>\n", 1, "no I/O")

    def test_unknown_layer(self):
        self.expect_red("src/utils/a.h", "#include <cstdint>\n", 1, "not a layer")


if __name__ == "__main__":
    unittest.main()
