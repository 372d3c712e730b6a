"""What a fission rule is: one operator of the model, written as its definition in primitives (paper section 3)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, cast, get_args, get_type_hints

from korch.ir.builder import Builder, Value


@dataclass(frozen=True)
class Opaque:
    """A rule's answer where it has no definition for these attributes or dtypes, and why."""

    reason: str


RuleResult = Value | tuple[Value | None, ...] | Opaque
Definition = Callable[..., RuleResult]


@dataclass(frozen=True)
class FissionRule:
    """The definition `fn(b, *inputs, **attrs)` of the operators `ops` of `domain` from opset `since` on.

    Inputs come by position, None where an optional one is missing; ONNX attributes by name, with ONNX's
    defaults in the signature (text decoded, tensors as numpy arrays). `outputs`, if the definition takes it,
    is how many outputs the node names; `op` is the name of the operator, `opset` the model's.
    """

    ops: tuple[str, ...]
    since: int
    domain: str
    fn: Definition

    def __call__(self, b: Builder, *inputs: Value | None, **attrs: Any) -> Any:
        """The definition itself, for rules that are told by another."""
        return self.fn(b, *inputs, **attrs)

    def accepts(self, name: str) -> bool:
        """Whether the definition takes the keyword `name`."""
        return name in _keywords(self.fn)


def fission(*ops: str, since: int = 1, domain: str = "") -> Callable[[Definition], FissionRule]:
    """Makes a definition the rule of the operators `ops`."""

    def enter(fn: Definition) -> FissionRule:
        return FissionRule(ops, since, domain, fn)

    return enter


@cache
def _keywords(fn: Definition) -> frozenset[str]:
    """Named one by one, or by the TypedDict of a `**parameter`."""
    parameters = inspect.signature(fn).parameters.values()
    gathered = [p.name for p in parameters if p.kind is p.VAR_KEYWORD]
    return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY).union(
        *(get_args(get_type_hints(fn)[name])[0].__annotations__ for name in gathered)
    )


def attributes(raw: dict[str, Any]) -> dict[str, Any]:
    """ONNX attribute values as rules read them: text for bytes."""
    return {name: _text(value) for name, value in raw.items()}


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [_text(v) for v in cast("list[Any]", value)] if isinstance(value, list) else value
