"""`python -m tests.ledger.formats`: a ledger of the present format, as SQL."""

import sys
import tempfile
from pathlib import Path

from holdfast.ledger.side_files import FORMAT
from tests.ledger.formats import write

with tempfile.TemporaryDirectory() as made:
    write(Path(made))
sys.stdout.write(f"{FORMAT}.sql\n")
