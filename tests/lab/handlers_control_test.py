# SPDX-License-Identifier: BSD-3-Clause
"""Handlers are loaded, listed and unloaded, by hand and by the configuration; whatever a tenant sends is
refused with a reason, and the daemon goes on."""

import pathlib
import re
import shutil
import tempfile
import unittest

import handler_lab
import support
from late_core import late_core

OK, FAILED, USAGE, _, _, TIMEOUT = range(6)
CAPPED = "acc = min(acc + in, 5);"
OTHER = "acc = max(acc, in);"


class Handlers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = cls.enterClassContext(handler_lab.directory())
        cls.lab = cls.enterClassContext(support.Lab("star-4", *handler_lab.allowed(cls.home)))

    def tearDown(self):
        for number in handler_lab.listed(self.lab):
            handler_lab.unload(self.lab, number)

    def refuse(self, number, source, element_type: str | None = None) -> str:
        """What is said; nothing is loaded, and the daemon answers."""
        before = handler_lab.listed(self.lab)
        done = handler_lab.try_to_load(self.lab, number, source, element_type)
        self.assertIn(done.returncode, (FAILED, USAGE), done.stderr)
        self.assertNotEqual(done.stderr.strip(), "")
        self.assertEqual(handler_lab.listed(self.lab), before)
        return done.stderr

    def test_what_is_listed(self):
        handler_lab.load(self.lab, 3, CAPPED, "i8")
        handler_lab.load(self.lab, 63, self.home / "saturating_add.so")
        rows = handler_lab.listed(self.lab)
        self.assertEqual([(rows[number]["kind"], rows[number]["type"], rows[number]["name"],
                           rows[number]["closed"]) for number in (3, 63)],
                         [("expression", "i8", CAPPED, False),
                          ("native", "i8", "saturating add", False)])
        for row in rows.values():
            self.assertRegex(row["mark"], "^(0x)?[0-9a-f]{1,16}$")
        said = self.lab.ctl("handler", "list").stdout
        for words in ("saturating add", CAPPED, rows[3]["mark"]):
            self.assertIn(words, said)

    def test_the_mark_says_what_is_computed(self):
        for number, text, element_type in ((0, CAPPED, "i8"), (1, "s=acc+in;acc=min(s,5)", "i8"),
                                           (2, OTHER, "i8"), (3, CAPPED, "i16")):
            handler_lab.load(self.lab, number, text, element_type)
        marks = [row["mark"] for _, row in sorted(handler_lab.listed(self.lab).items())]
        self.assertEqual(marks[0], marks[1])
        self.assertEqual(len(set(marks)), 3)

    def test_the_same_again_is_done_and_another_is_refused(self):
        handler_lab.load(self.lab, 3, CAPPED, "i8")
        handler_lab.load(self.lab, 3, CAPPED, "i8")
        for source, element_type in ((OTHER, "i8"), (CAPPED, "i16"),
                                     (self.home / "saturating_add.so", None)):
            said = self.refuse(3, source, element_type)
            self.assertIn("handler 3 is taken", said)
            self.assertIn("unload", said)

    def test_what_is_not_there_cannot_be_unloaded(self):
        for number in ("5", "64", "-1", "x"):
            done = self.lab.ctl("handler", "unload", number)
            self.assertIn(done.returncode, (FAILED, USAGE), number)
            self.assertNotEqual(done.stderr, "")

    def test_hostile_texts(self):
        nested = "acc = " + "(" * 1000 + "in" + ")" * 1000
        temporaries = "".join(f"t{i} = in; " for i in range(17)) + "acc = " + \
            " + ".join(f"t{i}" for i in range(17))
        for text, words in ((nested, "nested"),
                            ("acc = " + "-" * 3000 + "in", "nested"),
                            ("acc = " + " ? ".join(["in"] * 500), ""),
                            ("acc = " + "min(" * 1000, ""),
                            ("acc = in" + " " * 100_000, "4,096|4096"),
                            ("acc = in" + " + in" * 65, "64 instructions"),
                            (temporaries, "16"),
                            ("acc = min(acc + in", ""),
                            ("acc = min(acc + im, 127)", "there is no `im`"),
                            ("acc = in; acc = acc", "nothing comes behind"),
                            ("while (1) acc = in;", ""),
                            ("acc[1] = in", ""),
                            ("acc = in /* ", ""),
                            ("acc = \u00e4", ""),
                            ("acc = in\x01", ""),
                            ("acc = 99999999999999999999", ""),
                            ("x = in", ""),
                            (";", ""),
                            ("", "")):
            with self.subTest(text[:40]):
                self.assertRegex(self.refuse(3, text, "i8"), words or ".")

    def test_hostile_numbers_and_types(self):
        for number in ("64", "-1", "x", "4294967296", "99999999999999999999"):
            with self.subTest(number):
                self.refuse(number, CAPPED, "i8")
        for element_type in ("i4", "f32_i32", "opaque8", "i7", "", "x" * 10_000):
            with self.subTest(element_type[:40]):
                self.refuse(3, CAPPED, element_type)

    def test_files_that_are_refused(self):
        outside = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir="/run")))
        shutil.copyfile(self.home / "saturating_add.so", outside / "copy.so")
        link = self.home / "link.so"
        link.symlink_to(outside / "copy.so")
        text = self.home / "text.so"
        text.write_text("no library")
        writable = self.home / "writable.so"
        shutil.copyfile(self.home / "saturating_add.so", writable)
        writable.chmod(0o666)
        program = self.home / "program.so"
        shutil.copyfile(support.CTL, program)
        for file, words in ((outside / "copy.so", "handler_directory"),
                            (link, "handler_directory"),
                            (self.home / ".." / outside.name / "copy.so", "handler_directory"),
                            (text, re.escape(str(text))),
                            (writable, "written|writable"),
                            (program, re.escape(str(program))),
                            (self.home, ""),
                            (self.home / "none.so", "No such file"),
                            ("/dev/zero", "handler_directory")):
            with self.subTest(str(file)):
                self.assertRegex(self.refuse(3, file), words or ".")

    def mapped(self) -> str:
        return pathlib.Path(f"/proc/{self.process()}/maps").read_text()

    def process(self) -> int:
        return self.lab.state["processes"][0]["pid"]

    def test_a_thousand_loads_beside_a_job(self):
        def open_files() -> int:
            return len(list(pathlib.Path(f"/proc/{self.process()}/fd").iterdir()))

        handler_lab.load(self.lab, 1, CAPPED, "i8")
        process, files = self.process(), open_files()
        for number in range(1000):
            if number % 100 == 0:
                document = self.lab.reduce("-b", "64K", "-e", "64K", "-n", "3", "-d", "i8",
                                           "-o", "handler:1", "--handler", f"1={CAPPED}",
                                           "--algorithm", "canary")
                self.assertEqual(support.wrong(document), 0)
                support.assert_switches_reduce(self, document)
            if number % 2 == 0:
                handler_lab.load(self.lab, 2, self.home / "saturating_add.so")
            else:
                handler_lab.load(self.lab, 2, f"acc = min(acc + in, {number});", "i16")
            handler_lab.unload(self.lab, 2)
        self.assertEqual(set(handler_lab.listed(self.lab)), {1})
        self.assertEqual(self.process(), process)
        self.assertLess(open_files(), files + 5)
        self.assertNotIn("saturating_add", self.mapped())

    def test_all_numbers_at_once(self):
        for number in range(64):
            handler_lab.load(self.lab, number, CAPPED, "i8")
        self.assertEqual(set(handler_lab.listed(self.lab)), set(range(64)))

    def test_a_late_core_keeps_a_handler_closed(self):
        handler_lab.load(self.lab, 3, CAPPED, "i8")
        with late_core(self.lab):
            done = self.lab.ctl("--timeout", "40", "handler", "unload", "3")
            self.assertEqual(done.returncode, TIMEOUT, done.stderr)
            self.assertIn("the packet core on CPU", done.stderr)
            self.assertTrue(handler_lab.listed(self.lab)[3]["closed"])
            self.assertIn("3", self.refuse(3, OTHER, "i8"))
        handler_lab.unload(self.lab, 3)
        handler_lab.load(self.lab, 3, OTHER, "i8")


class WithoutADirectory(unittest.TestCase):
    def test_no_file_is_taken(self):
        with handler_lab.directory() as home, support.Lab("star-4") as lab:
            done = handler_lab.try_to_load(lab, 3, home / "saturating_add.so")
            self.assertEqual(done.returncode, FAILED)
            self.assertIn("handler_directory", done.stderr)
            self.assertEqual(handler_lab.listed(lab), {})
            handler_lab.load(lab, 3, CAPPED, "i8")


def tables(**expressions: str) -> tuple[str, str]:
    """What `tools/lab` is told, for a file with these; h3 is handler 3."""
    rows = ", ".join(f'{{ number = {name[1:]}, type = "i8", expression = "{text}" }}'
                     for name, text in expressions.items())
    return "--set", f"handler=[{rows}]"


class FromTheFile(unittest.TestCase):
    def setUp(self):
        self.lab = self.enterContext(support.Lab("star-4", *tables(h3=CAPPED, h4=OTHER)))

    def names(self) -> dict[int, str]:
        return {number: row["name"] for number, row in handler_lab.listed(self.lab).items()}

    def reload(self, **expressions: str) -> None:
        self.lab.tool("reload", *tables(**expressions))

    def test_a_restart_brings_them_back(self):
        handler_lab.load(self.lab, 9, OTHER, "i16")
        self.assertEqual(self.names(), {3: CAPPED, 4: OTHER, 9: OTHER})
        self.lab.tool("kill", "star-4")
        self.lab.tool("restart", "star-4")
        self.assertEqual(self.names(), {3: CAPPED, 4: OTHER})
        document = self.lab.reduce("--counts", "10007", "-n", "2", "-d", "i8", "-o", "handler:3",
                                   "--handler", f"3={CAPPED}", "--algorithm", "canary")
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)

    def test_a_reload_changes_those_of_the_file_only(self):
        handler_lab.load(self.lab, 9, CAPPED, "i8")
        self.reload(h4=OTHER, h5=CAPPED)
        self.assertEqual(self.names(), {4: OTHER, 5: CAPPED, 9: CAPPED})
        self.reload()
        self.assertEqual(self.names(), {9: CAPPED})

    def test_what_a_reload_would_change_is_shown(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            text = (self.lab.directory / "star-4.toml").read_text()
            self.assertIn(CAPPED, text)
            file.write(text.replace(CAPPED, "acc = acc + in;"))
            file.flush()
            done = self.lab.ctl("config", "diff", file.name)
        self.assertIn("handler 3", done.stdout)
        self.assertIn("acc = acc + in;", done.stdout)

    def test_a_wrong_one_changes_nothing(self):
        done = support.run(support.LAB, "reload", self.lab.name,
                           *tables(h3="acc = im", h5=CAPPED))
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no `im`", done.stderr)
        self.assertEqual(self.names(), {3: CAPPED, 4: OTHER})


class Check(unittest.TestCase):
    """tributaryd --check."""
    GOOD = """version = 1
[[handler]]
number = 3
type = "i8"
expression = "acc = min(acc + in, 127);"
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "a"
interface = "veth-a"
"""

    def test_the_good_one(self):
        code, said, _ = support.check_config(self.GOOD)
        self.assertEqual(code, OK, said)

    def test_what_is_wrong_has_its_place(self):
        for before, after, line, words in (("acc + in", "acc + im", 5, "there is no `im`"),
                                           ("number = 3", "number = 64", 3, "number"),
                                           ('"i8"', '"i7"', 4, "i7"),
                                           ('"i8"', '"opaque8"', 5, "opaque8"),
                                           ('type = "i8"\n', "", 4, "type"),
                                           ("expression = ", "file = ", 4, "type"),
                                           ("[[switch]]", "[[handler]]\nnumber = 3\ntype = "
                                            '"i8"\nexpression = "acc = in"\n[[switch]]', 7, "3")):
            with self.subTest(after):
                self.assertIn(before, self.GOOD)
                code, said, name = support.check_config(self.GOOD.replace(before, after, 1))
                self.assertEqual(code, FAILED, said)
                self.assertRegex(said, rf"{name}:{line}:\d+: .*({words})")


if __name__ == "__main__":
    support.main()
