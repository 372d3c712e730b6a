"""Half an hour on a machine with an NVIDIA GPU, as three commands: what they measure, in which order, and what stays.

`stages.py` has the commands, `rig.py` is the machine they run on, `record.py` keeps what they find.
"""
