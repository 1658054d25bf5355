"""The command `daedal`: same arguments, same output, same exit codes."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Be the command."""
    # as in a program without Python: the command looks at signals itself, and ends with 128 + signal
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return _native.command(["daedal", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
