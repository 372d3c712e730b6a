"""Sample graphs on which the rewrites fire, a file for each file of rewrites; drawing from them is in `drawing.py`."""
