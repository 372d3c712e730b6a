"""Half an hour on a machine with an NVIDIA GPU, as three commands.

`stages.py` has the commands, `rig.py` is the machine that they run on, `record.py` keeps their findings.
"""
