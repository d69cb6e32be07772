# SPDX-License-Identifier: BSD-3-Clause
"""Traffic classes of a fabric that keep aggregation and long TCP flows apart."""

import argparse

WEIGHTS_MAX = 1000
OFF = "switch.class=[]"
# PANAMA has a codepoint of its own, cs7; ranks ask for this one, cs4, with the other engines.
ENVIRONMENT = {"TRIBUTARY_DSCP": "32"}
_SELECTOR_SHIFT = 5  # of a class selector in the type of service


def add_option(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--classes", type=_weight, nargs="?", const=1, metavar="WEIGHT",
                        help=f"{what}: aggregation has this weight (1 if none is given), TCP has 1")


def _weight(text: str) -> int:
    if not text.isdecimal() or int(text) not in range(1, WEIGHTS_MAX + 1):
        raise argparse.ArgumentTypeError(f"'{text}' is no weight: give a number from 1 to {WEIGHTS_MAX}")
    return int(text)


def setting(weight: int, flows: int, ecn_threshold: int) -> str:
    """Returns the setting of one class for aggregation and of one for each TCP flow. The first flow's takes what is
    of no other class."""
    marks = f"ecn_threshold = {ecn_threshold}"
    tables = [f'{{ name = "aggregation", dscp = ["cs7", "cs4"], weight = {weight}, {marks} }}',
              f'{{ name = "tcp", {marks} }}']
    tables += [f'{{ name = "tcp{number}", dscp = "cs{number}", {marks} }}' for number in range(1, flows)]
    return f"switch.class=[{', '.join(tables)}]"


def type_of_service(number: int) -> int:
    """Returns that of a TCP flow, counted from 0, which puts it into its class."""
    return number << _SELECTOR_SHIFT
