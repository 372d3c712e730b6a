"""The command line. In: arguments. Out: text or JSON on stdout, one line on stderr where something is wrong.

One file a command: `optimize.py` has the function `optimize`, and so on. Start with `main.py`.
"""

from korch.cli.main import main as main
