# SPDX-License-Identifier: BSD-3-Clause
"""Takes the samples of a suite in turns, keeps them as JSON, and looks them up by case and subject."""

import dataclasses
import json
import pathlib
import statistics
import sys
from collections.abc import Callable

from .. import figures

_TOLD = 8  # figures of a sample, while it runs


@dataclasses.dataclass
class Case:
    """One measurement: a subject (a program, or a policy of it) in a case."""

    case: str
    subject: str
    measure: Callable[[], dict[str, float]]


@dataclasses.dataclass
class Table:
    title: str
    head: list[str]
    rows: list[list[str]]

    def text(self) -> str:
        return f"{self.title}\n\n{figures.table(self.head, self.rows)}\n"

    def markdown(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join([self.title, "", *("| " + " | ".join(line) + " |" for line in lines), ""])


@dataclasses.dataclass
class Chart:
    """A chart of bars in groups, or of lines where the groups are numbers."""

    name: str  # of the file
    title: str
    unit: str
    groups: list[str] | list[int]
    series: dict[str, list[list[float]]]  # per group, one value per run
    logarithmic: bool = False

    @staticmethod
    def of(record: "Record", name: str, figure: str, unit: float, unit_name: str,
           subjects: list[str] | None = None, **more) -> "Chart":
        """Returns the chart of one figure, by case and subject."""
        series = {
            subject: [[value / unit for value in record.values(case, subject, figure)]
                      for case in record.cases()] for subject in subjects or record.subjects()}
        return Chart(name, name, unit_name, record.cases(), series, **more)


class Record:
    """All samples of one suite, and the machine and options that they were taken with."""

    def __init__(self, suite: str, machine: dict, setting: dict, samples: list[dict] | None = None):
        self.suite = suite
        self.machine = machine
        self.setting = setting
        self.samples = samples or []

    @staticmethod
    def read(path: pathlib.Path) -> "Record":
        return Record(**json.loads(path.read_text()))

    def write(self, path: pathlib.Path) -> None:
        path.write_text(json.dumps(vars(self), indent=1) + "\n")

    def take(self, cases: list[Case], runs: int, path: pathlib.Path,
             observe: Callable[[Callable], tuple[dict, dict]] = lambda measure: (measure(), {})
             ) -> None:
        """Takes each case once per run, so that a disturbance affects all cases alike, and every other run in reverse
        order, so that no case always follows the same other one. `observe` measures a case, may repeat that, and
        returns the state of the CPUs as well. Incomplete results lie beside `path`, and replace nothing."""
        part = path.with_suffix(".part")
        for run in range(runs):
            for case in cases if run % 2 == 0 else reversed(cases):
                found, cpus = observe(case.measure)
                self.samples.append({"case": case.case, "subject": case.subject, "run": run,
                                     "figures": found, "cpus": cpus})
                self.write(part)
                told = ", ".join(f"{name} {value:.4g}"
                                 for name, value in list(found.items())[:_TOLD])
                print(f"  {self.suite}: {case.case}, {case.subject}: {told}", file=sys.stderr)
        part.replace(path)

    def disturbed(self) -> int:
        """Returns the number of samples that other loads disturbed."""
        return sum(not sample["cpus"].get("good", True) for sample in self.samples)

    def cases(self) -> list[str]:
        return list(dict.fromkeys(sample["case"] for sample in self.samples))

    def subjects(self) -> list[str]:
        return list(dict.fromkeys(sample["subject"] for sample in self.samples))

    def values(self, case: str, subject: str, figure: str) -> list[float]:
        """Returns one value per run."""
        return [sample["figures"][figure] for sample in self.samples
                if (sample["case"], sample["subject"]) == (case, subject)
                and figure in sample["figures"]]

    def median(self, case: str, subject: str, figure: str) -> float:
        return statistics.median(self.values(case, subject, figure))

    def spread(self, case: str, subject: str, figure: str, unit: float = 1.0,
               digits: int = 1) -> str:
        return figures.spread(self.values(case, subject, figure), unit, digits)
