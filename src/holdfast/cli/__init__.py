"""The command line. Human text on a terminal, `--json` everywhere; every text ends with what to do
next.

Exit codes: 0 ok, 2 usage, 3 refused, 4 audit failed.
"""

from __future__ import annotations

import json
import sys

from holdfast.errors import HoldfastError, Refused

__all__ = ["main"]

USAGE, REFUSED = 2, 3


def main() -> None:
    """Run the command line; errors become one sentence and an exit code."""
    import holdfast.cli.attack
    import holdfast.cli.demo
    import holdfast.cli.holdout  # their commands enter themselves in the app
    import holdfast.cli.mechanisms  # noqa: F401
    from holdfast.cli.app import app

    try:
        app()
    except HoldfastError as error:
        if "--json" in sys.argv:
            print(json.dumps({"error": type(error).__name__, "message": str(error)}))
        else:
            print(f"holdfast: {error}", file=sys.stderr)
        sys.exit(REFUSED if isinstance(error, Refused) else USAGE)
