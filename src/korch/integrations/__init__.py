"""Korch inside other people's programs. In: a model where another runtime would take it. Out: that runtime's interface.

Start with `session.py`; `archives.py` keeps what was optimised before.
"""

from korch.integrations.session import InferenceSession as InferenceSession
