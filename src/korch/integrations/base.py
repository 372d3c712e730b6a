"""onnxruntime's session on the whole model, which can be let go and comes back when it is needed."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

from korch.errors import Error, InputError, ModelError, words_of
from korch.session.source import ModelSource
from korch.system.sessions import inference_session, session_options

Theirs: Any = inference_session()
_KEPT = frozenset(
    {
        "_model_path",
        "_model_bytes",
        "_sess_options_initial",
        "_enable_fallback",
        "_providers",
        "_read_config_from_model",
        "_fallback_providers",
        "_provider_options",
        "_captured_graph_bindings",
        "_inputs_meta",
        "_outputs_meta",
        "_model_meta",
        "_overridable_initializers",
    }
)
"""Attributes of onnxruntime's class that hold nothing of its native session; descriptions are copies."""


@dataclass(frozen=True)
class NodeArg:
    """An input or output as onnxruntime describes it: `shape` has names or None for open lengths, `type` is like
    `tensor(float)`."""

    name: str
    shape: list[Any]
    type: str


@dataclass(frozen=True)
class ModelMetadata:
    """The model's metadata, as onnxruntime reports them."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


class Base(Theirs):
    """onnxruntime's session. `let_base_go` frees its native part, which the next use loads again; names, types and
    metadata stay. Errors of onnxruntime are of its own classes and of Korch's, in one line."""

    def __init__(
        self, source: ModelSource, sess_options: Any, providers: Any, provider_options: Any, **kwargs: Any
    ) -> None:
        self._loading = threading.RLock()
        self._source = source
        self._base_calls: int = 0
        self._base_used: float = time.monotonic()
        self._native_names: frozenset[str] = frozenset()
        own = set(vars(self))
        model = source.model
        _ = source.locations  # onnxruntime would wait forever for a pipe
        try:
            path_or_bytes = str(model) if isinstance(model, Path) else model
            Theirs.__init__(self, path_or_bytes, sess_options, providers, provider_options, **kwargs)
        except Exception as e:
            raise in_one_line(e, ModelError) from None
        self._snapshot()
        self._native_names = frozenset(set(vars(self)) - own - _KEPT)
        _BASES.add(self)

    def _snapshot(self) -> None:
        """Copies descriptions, which would hold the native session."""
        self._inputs_meta = [NodeArg(a.name, list(a.shape), a.type) for a in self._inputs_meta]
        self._outputs_meta = [NodeArg(a.name, list(a.shape), a.type) for a in self._outputs_meta]
        free = self._overridable_initializers or ()
        self._overridable_initializers = [NodeArg(a.name, list(a.shape), a.type) for a in free]
        self._model_meta = ModelMetadata(*(getattr(self._model_meta, f) for f in ModelMetadata.__dataclass_fields__))

    def __getattr__(self, name: str) -> Any:
        """Attributes of the native session that were let go; loads it."""
        if name not in vars(self).get("_native_names", ()):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._loading:
            if not self.has_base:
                providers: list[str] = list(self._providers or ())
                options: dict[str, Any] = self._provider_options or {}
                self._sess_options = self._sess_options_initial
                self._create_inference_session(providers, [options.get(p, {}) for p in providers])
                self._snapshot()
                self._base_used = time.monotonic()
        self.base_loaded()
        return getattr(self, name)

    def base_loaded(self) -> None:
        """Called after the native session was loaded again."""

    @property
    def has_base(self) -> bool:
        """Whether the native session is in memory."""
        return "_sess" in vars(self)

    def let_base_go(self) -> None:
        """Frees the native session; runs under way hold it until they end."""
        with self._loading:
            if self._model_bytes is not None:
                self._model_path, self._model_bytes = str(self._source.file), None
            self._forget_base()
        _trim()

    def _forget_base(self) -> dict[str, Any]:
        """The attributes of the native session, which this object no longer has."""
        gone = {name: value for name, value in vars(self).items() if name in self._native_names}
        for name in gone:
            del self.__dict__[name]
        return gone

    def forked(self) -> Any:
        """Drops the native session in a fork, which cannot use it, and returns it; the session loads another."""
        self._loading = threading.RLock()
        return self._forget_base()

    @property
    def native(self) -> Any:
        """The native session, loaded again where it was let go."""
        return self._sess

    def base_run(self, output_names: Sequence[str] | None, input_feed: Any, run_options: Any = None) -> Any:
        """The outputs by onnxruntime."""
        self._base_calls += 1
        self._base_used = time.monotonic()
        try:
            return Theirs.run(self, output_names, input_feed, run_options)
        except Exception as e:
            raise in_one_line(e, InputError) from None
        finally:
            self._base_used = time.monotonic()

    def get_session_options(self) -> Any:
        """The options that the session was made with."""
        return self._sess_options if self.has_base else self._sess_options_initial or session_options()


def in_one_line(e: Exception, kind: type[Error]) -> Exception:
    """An error of onnxruntime as one of its own class and of Korch's `kind`, in one line; others as they are."""
    theirs = type(e).__module__.startswith("onnxruntime")
    if isinstance(e, Error) or not (theirs or isinstance(e, ValueError)):
        return e
    return _both(kind if theirs or kind is InputError else Error, type(e))(words_of(e, None))


@cache
def _both(ours: type[Error], theirs: type[Exception]) -> type[Exception]:
    return ours if issubclass(ours, theirs) else type(theirs.__name__, (ours, theirs), {})


def _trim() -> None:
    """Gives freed memory back to the system, where the C library can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


_BASES: WeakSet[Base] = WeakSet()
_lost: list[Any] = []
"""Native sessions of the process that this one is a fork of: their threads are not here, nobody could end them."""


def _forked() -> None:
    _lost.extend(base.forked() for base in list(_BASES))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
