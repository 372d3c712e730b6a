"""Whole models, and changes of bytes, messages and JSON that damage them."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    255,
    1 << 15,
    1 << 31,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 40,
    (1 << 63) - 1,
    -(1 << 63),
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e38, float("inf"), float("-inf"), float("nan"))
WORDS = ("", "x", "Add", "U999999", "Loop", "If", "ai.onnx", "../x", "a" * 5000, "\N{SNOWMAN}", "NaN", "0", "-1")
MODELS = {
    "small": """<ir_version: 8, opset_import: ["": 17]>
    small (float[1,4,8,8] x) => (float[1,4,8,8] y)
    <float[4,4,1,1] w = {0.1,-0.2,0.3,-0.4,0.5,0.6,-0.7,0.8,0.9,-1,1.1,1.2,-1.3,1.4,-1.5,1.6}>
    { a = Conv(x, w)  b = Relu(a)  y = Softmax<axis=1>(b) }""",
    "shapes": """<ir_version: 8, opset_import: ["": 17]>
    shapes (float[2,3,4] x, int64[2] i) => (float[N] y, float[2,M] z)
    <int64[1] s = {-1}, int64[3] r = {4, 3, 2}>
    { a = Reshape(x, r)  b = Transpose<perm=[2,0,1]>(a)  y = Reshape(b, s)
      c = Gather<axis=1>(x, i)  d = ReduceMean<axes=[1], keepdims=0>(c)  e = Concat<axis=1>(d, d)  z = Clip(e) }""",
    "loop": """<ir_version: 8, opset_import: ["": 17]>
    loop (float[4] x, bool c) => (float[4] y, float[4] z)
    <int64 n = {3}, bool t = {1}>
    { y = Loop(n, t, x) <body = step (int64 i, bool go, float[4] v) => (bool on, float[4] w)
        { on = Identity(go)  w = Add(v, v) }>
      z = If(c) <then_branch = a () => (float[4] p) { p = Neg(x) },
                 else_branch = b () => (float[4] q) { q = Abs(x) }> }""",
    "called": """<ir_version: 8, opset_import: ["": 17, "own": 1]>
    called (float[2,3] x) => (float[2,3] y)
    { a = own.twice(x)  y = own.twice(a) }
    <domain: "own", opset_import: ["": 17]> twice (v) => (w) { w = Add(v, v) }""",
    "quantized": """<ir_version: 8, opset_import: ["": 17]>
    quantized (uint8[2,8] x) => (uint8[2,2] y)
    <float s = {0.1}, uint8 z = {3}, int8[8,2] w = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, int8 v = {0}>
    { a = DequantizeLinear(x, s, z)  b = DequantizeLinear(w, s, v)  c = MatMul(a, b)  y = QuantizeLinear(c, s, z) }""",
    "state": """<ir_version: 8, opset_import: ["": 17]>
    state (float[5,1,3] x, float[1,8,3] w, float[1,8,2] r) => (float[5,1,1,2] y)
    { y, h, c = LSTM<hidden_size=2>(x, w, r) }""",
}


def bytes_changed(rng: random.Random, data: bytes) -> bytes:
    """With one to eight changes of bytes."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at, size = rng.randrange(len(text) + 1), rng.choice((1, 1, 2, 4, 16, 200))
        match rng.randrange(6):
            case 0 if at < len(text):
                text[at] ^= 1 << rng.randrange(8)
            case 1:
                text[at : at + size] = rng.randbytes(size)
            case 2:
                del text[at : at + size]
            case 3:
                text[at:at] = text[rng.randrange(len(text) + 1) :][:size]
            case 4:
                text[at:at] = bytes([rng.choice((0, 0xFF, 0x7F, 0x80))]) * size
            case _ if rng.random() < 0.1:
                del text[at:]
    return bytes(text)


def number(rng: random.Random, before: int) -> int:
    """Another number; where its type has no room for it, that is for the caller to find."""
    return rng.choice((*NUMBERS, before + 1, before - 1, -before, before * 2, before << 20))


def message_changed(rng: random.Random, message: Message) -> None:
    """Changes a field of it or of a message somewhere inside."""
    fields = [f for f, _ in message.ListFields()]
    inner = [f for f in fields if f.type == FieldDescriptor.TYPE_MESSAGE]
    if inner and rng.random() < 0.85:
        chosen = rng.choice(inner)
        value = getattr(message, chosen.name)
        if not chosen.is_repeated:
            message_changed(rng, value)
        elif value and rng.random() < 0.8:
            message_changed(rng, rng.choice(value))
        else:
            _repeated_changed(rng, value)
        return
    plain = [f for f in message.DESCRIPTOR.fields if f.type != FieldDescriptor.TYPE_MESSAGE]
    if not plain:
        return
    chosen = rng.choice([f for f in fields if f in plain] or plain) if rng.random() < 0.9 else rng.choice(plain)
    value = getattr(message, chosen.name)
    try:
        if not chosen.is_repeated:
            setattr(message, chosen.name, _scalar(rng, value))
        elif value and rng.random() < 0.6:
            at = rng.randrange(len(value))
            value[at] = _scalar(rng, value[at])
        else:
            _repeated_changed(rng, value)
    except (ValueError, TypeError, OverflowError, UnicodeError):
        message.ClearField(chosen.name)


def _scalar(rng: random.Random, value: Any) -> Any:
    match value:
        case bool() | int():
            return number(rng, value)
        case float():
            return rng.choice(FLOATS)
        case bytes():
            return bytes_changed(rng, value)
        case _:
            return rng.choice((*WORDS, value[1:], value + "x"))


def _repeated_changed(rng: random.Random, values: Any) -> None:
    """Drops one, doubles one, or adds several times the first."""
    if not len(values):
        return
    at = rng.randrange(len(values))
    if rng.random() < 0.5:
        del values[at]
    else:
        values.extend([values[at]] * rng.choice((1, 1, 3, 100)))


def json_changed(rng: random.Random, value: Any) -> Any:
    """With a change somewhere inside."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(sorted(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: json_changed(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.95:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at + rng.randrange(3) :] + value[:1]
        return [*value[:at], json_changed(rng, value[at]), *value[at + 1 :]]
    return rng.choice((None, True, [], {}, [[]], {"x": 1}, 0.5, 1e308, *FLOATS, *NUMBERS, *WORDS))
