"""What kernels cost on this machine, remembered. In: kernels. Out: checked and measured costs, or why there is none.

Start with `profiler.py`; `check.py` says when a kernel is right, `timing.py` how it is timed, `database.py` what stays.
"""

from korch.profile.calibrate import machine as machine
from korch.profile.database import Database as Database
from korch.profile.database import clear as clear
from korch.profile.profiler import Profiler as Profiler
from korch.profile.results import Failed as Failed
from korch.profile.results import Measurement as Measurement
