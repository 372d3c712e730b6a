"""Activation functions, by definition."""

from __future__ import annotations

import math

from korch.fission.rule import fission
from korch.ir.builder import Builder, Value


@fission("Relu", "Sigmoid", "Softplus", "Tanh")
def primitive(b: Builder, x: Value, *, op: str) -> Value:
    """f(x): a primitive of the same name."""
    return b.op(op, x)


@fission("LeakyRelu")
def leaky_relu(b: Builder, x: Value, *, alpha: float = 0.01) -> Value:
    """x where x >= 0, else alpha x."""
    return b.op("LeakyRelu", x, alpha=alpha)


@fission("ThresholdedRelu")
def thresholded_relu(b: Builder, x: Value, *, alpha: float = 1.0) -> Value:
    """x where x > alpha, else 0."""
    return b.op("Where", b.op("Greater", x, alpha), x, 0.0)


@fission("Elu")
def elu(b: Builder, x: Value, *, alpha: float = 1.0) -> Value:
    """x where x >= 0, else alpha (exp x - 1)."""
    return b.op("Where", b.op("Less", x, 0.0), (b.op("Exp", x) - 1.0) * alpha, x)


@fission("Selu")
def selu(
    b: Builder, x: Value, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875
) -> Value:
    """gamma elu(x)."""
    return elu(b, x, alpha=alpha) * gamma


@fission("Celu")
def celu(b: Builder, x: Value, *, alpha: float = 1.0) -> Value:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""
    return b.op("Relu", x) + b.op("Min", (b.op("Exp", x / alpha) - 1.0) * alpha, 0.0)


@fission("HardSigmoid")
def hard_sigmoid(b: Builder, x: Value, *, alpha: float = 0.2, beta: float = 0.5) -> Value:
    """max(0, min(1, alpha x + beta))."""
    return b.op("Min", b.op("Relu", x * alpha + beta), 1.0)


@fission("HardSwish")
def hard_swish(b: Builder, x: Value) -> Value:
    """x hardsigmoid(x), with 1/6 and 1/2."""
    return x * hard_sigmoid(b, x, alpha=1 / 6, beta=0.5)


@fission("Swish")
def swish(b: Builder, x: Value, *, alpha: float = 1.0) -> Value:
    """x sigmoid(alpha x)."""
    return x * b.op("Sigmoid", x * alpha)


@fission("Mish")
def mish(b: Builder, x: Value) -> Value:
    """x tanh(softplus x)."""
    return x * b.op("Tanh", b.op("Softplus", x))


@fission("Softsign")
def softsign(b: Builder, x: Value) -> Value:
    """x / (1 + |x|)."""
    return x / (b.op("Abs", x) + 1.0)


@fission("Shrink")
def shrink(b: Builder, x: Value, *, bias: float = 0.0, lambd: float = 0.5) -> Value:
    """x + bias below -lambd, x - bias above lambd, 0 between; integers are shrunk as floats, then cut."""
    wide = x if x.tensor.is_float else b.op("Cast", x, to="float64")
    low = b.op("Where", b.op("Less", wide, -lambd), wide + bias, 0)
    return b.op("Cast", b.op("Where", b.op("Greater", wide, lambd), wide - bias, low), to=x.dtype)


@fission("Gelu", since=20)
def gelu(b: Builder, x: Value, *, approximate: str = "none") -> Value:
    """x/2 (1 + erf(x / sqrt 2)), or its approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    if approximate == "tanh":
        inner = b.op("Tanh", (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi))
    else:
        inner = b.op("Erf", x * math.sqrt(0.5))
    return x * 0.5 * (inner + 1.0)
