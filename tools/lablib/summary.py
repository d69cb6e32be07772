# SPDX-License-Identifier: BSD-3-Clause
"""Prints in one sentence the result of a run of tributary-bench with rows of canary and ring."""

import json
import sys

_NUMBERS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}


def sentence(record: dict) -> str:
    size = max(row["size"] for row in record["rows"])
    row = {row["algorithm"]: row["out_of_place"] for row in record["rows"] if row["size"] == size}
    if "canary" not in row:
        raise SystemExit(f"the switches took no part ({', '.join(row)}): the notices above say why")
    canary, ring = row["canary"], row["ring"]
    wrong = sum(row[place]["wrong"] for row in record["rows"]
                for place in ("out_of_place", "in_place"))
    passes = record["iterations"] + record["warmup_iterations"]
    checked = sum(row["count"] * record["ranks"] * passes * 2 for row in record["rows"])
    workers = _NUMBERS.get(record["ranks"], str(record["ranks"]))
    verdict = ("every one of the " if wrong == 0 else f"{wrong} of the ")
    return (
        f"{workers} workers in as many network namespaces have just added up their vectors inside "
        f"the network: with {size / 2**20:g} MiB each the switches delivered the sum at "
        f"{canary['algbw_bytes_per_s'] * 8e-6:.0f} Mbit/s, "
        f"{canary['share_of_line_rate_goodput'] * 100:.0f} % of what links of "
        f"{record['line_rate_bps'] * 1e-6:.0f} Mbit/s can carry and "
        f"{canary['algbw_bytes_per_s'] / ring['algbw_bytes_per_s']:.2f} times what the host-based "
        f"ring got out of the same links, and {verdict}"
        f"{checked:,} elements that the workers received was {'right' if wrong == 0 else 'wrong'}.")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(sentence(json.load(file)))
