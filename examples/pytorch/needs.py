# SPDX-License-Identifier: BSD-3-Clause
"""Says how to get a package that a script needs and this Python lacks, in place of a traceback."""

import importlib
import sys

ADVICE = {
    "torch": "install PyTorch for this Python, or run the script by one that has it, as Debian's: "
             "tools/install-packages pytorch, and /usr/bin/python3 SCRIPT",
    "tributary": "install Tributary, or say where it was built: export "
                 "PYTHONPATH=$PWD/build/src/bindings/python, for Debian's /usr/bin/python3",
    "tributary.torch": "it is built where PyTorch is installed: tools/install-packages pytorch, meson setup "
                       "--reconfigure build and ninja -C build",
}


def require(*modules: str) -> None:
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            sys.exit(f"{sys.argv[0]}: {error}; {ADVICE[module]}")
