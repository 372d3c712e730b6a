"""A model with any shapes, and the programs that serve it.

In: a model and the shapes that arrive. Out: specialised programs, each judged before it is used.
Start with `specialisations.py`; `making.py` makes one, `service.py` in the background, `archives.py` keeps it.
"""
