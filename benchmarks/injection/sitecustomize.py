"""Imported by each child process at its start, as its folder is on `PYTHONPATH`."""

import hook

hook.arm_child()
