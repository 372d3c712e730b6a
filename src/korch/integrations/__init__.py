"""Korch inside other people's programs. In: a model where another runtime would take it. Out: that runtime's interface.

Start with `session.py`; `base.py` is onnxruntime's session in it, `bindings.py` its `IOBinding`.
"""

from korch.integrations.session import InferenceSession as InferenceSession
