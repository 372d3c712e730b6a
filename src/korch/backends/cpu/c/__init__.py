"""C as data: functions with declared facts, tables, loops and statements, which are printed last.

In: what a generator writes with `Statements`. Out: a `Code`, whose text `printing.py` makes. Start with `tree.py`.
Nothing is read back from the text.
"""

from korch.backends.cpu.c.statements import Statements as Statements
from korch.backends.cpu.c.tree import Block as Block
from korch.backends.cpu.c.tree import Code as Code
from korch.backends.cpu.c.tree import Comment as Comment
from korch.backends.cpu.c.tree import Function as Function
from korch.backends.cpu.c.tree import Linkage as Linkage
from korch.backends.cpu.c.tree import Statement as Statement
from korch.backends.cpu.c.tree import Struct as Struct
from korch.backends.cpu.c.tree import Table as Table
from korch.backends.cpu.c.tree import own as own
from korch.backends.cpu.c.tree import run_function as run_function
