"""`python -m korch.cli` is `korch`."""

import sys

from korch.cli.main import main

sys.exit(main())
