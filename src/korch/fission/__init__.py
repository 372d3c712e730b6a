"""Operators become primitives: one rule an operator, grouped by family (paper section 3).

In: an ONNX model (`importer.read` prepares it). Out: a primitive graph. Start with `rule.py`, `softmax.py`
and `engine.py`; a new operator is a new rule in any file of this folder.
"""

from korch.fission.engine import fission as fission
from korch.fission.table import all_rules as all_rules
from korch.fission.table import rule_for as rule_for
