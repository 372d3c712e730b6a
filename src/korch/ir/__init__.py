"""Tensors, primitives and the primitive graph with choices (paper section 3), with a float64 reference.

In: what `fission` builds. Out: graphs, cones, reference values, plain ONNX.
Start with `tensor.py`, `primitive.py`, `graph.py`, `cone.py`; operators live in `ops/`.
"""

from korch.ir import ops as ops  # fills the table of operators
from korch.ir.builder import Builder as Builder
from korch.ir.builder import Value as Value
from korch.ir.cone import Cone as Cone
from korch.ir.graph import Graph as Graph
from korch.ir.ops.table import Category as Category
from korch.ir.primitive import Primitive as Primitive
from korch.ir.tensor import Tensor as Tensor
