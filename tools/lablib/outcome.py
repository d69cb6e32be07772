# SPDX-License-Identifier: BSD-3-Clause
"""Adds up the logs of several `meson test` runs: outcome.py FAILED LOG.json...

FAILED is 1 if anything else failed, such as a build; a log that is missing counts as a failure.
"""

import json
import sys


def main() -> int:
    broken = int(sys.argv[1])
    passed, failed, skipped = 0, [], []
    for path in sys.argv[2:]:
        try:
            with open(path, encoding="utf-8") as file:
                tests = [json.loads(line) for line in file]
        except OSError:
            failed.append(f"{path} was not written")
            continue
        for test in tests:
            if test["result"] in ("OK", "EXPECTEDFAIL"):
                passed += 1
            elif test["result"] == "SKIP":
                skipped.append(test["name"])
            else:
                failed.append(f"{test['name']}: {test['result']}")
    for name in skipped:
        print(f"skipped: {name}")
    for name in failed:
        print(f"failed: {name}")
    if broken and not failed:
        failed.append("something else")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
