"""onnxruntime's `InferenceSession`: it answers at once, takes any shape, and gets faster by itself."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from korch.errors import CacheError, Error, InputError, words_of
from korch.integrations.base import Base, Theirs, in_one_line
from korch.integrations.bindings import IOBinding
from korch.options import Options
from korch.session.archives import archives_folder
from korch.session.service import SERVICE
from korch.session.source import ModelSource
from korch.session.specialisations import Binding, Specialisation, Specialisations
from korch.session.status import SessionStatus
from korch.session.trial import Trial, TrialCall
from korch.system.folders import default_folder, owned_folder, removed_with
from korch.system.private import private_folder
from korch.system.sessions import dtype_of, session_options

log = logging.getLogger(__name__)

Source = str | Path | bytes | Any
"""A path, bytes or a ModelProto."""
Shapes = Mapping[str, Sequence[int]]
TUNE = ("background", "now", "off")
IDLE_SECONDS = 15.0
"""A base that has answered nothing for so long is let go, if there is a program."""
MAX_SPECIALISATIONS = 32
MAX_VALUES = 64
"""Numbers of an input whose value decides what is computed; with more, onnxruntime goes on."""
_SETTINGS = ("intra_op_num_threads", "inter_op_num_threads")
"""Options of a session with which it is timed beside a program."""


class InferenceSession(Base):
    """onnxruntime answers from the first call on; programs for the shapes that arrive take over once they are made and
    judged, in accuracy and in speed.

    `tune`: programs are made in the `background`, by a process of low priority; `now`, while the caller waits, when a
    shape is met first; or not at all (`off`: only those are used that were made before). `shapes`: those, or a sequence
    of such, for which programs are made ahead. At most `max_specialisations` programs are loaded, those used last.
    `threads`: those of `sess_options.intra_op_num_threads` by default. `time_budget`: seconds of tuning for each shape.
    With `cache`, programs are kept in Korch's cache folder, for later sessions and other processes.

    All else is as onnxruntime has it; threads may share a session.
    """

    defaults: ClassVar[Mapping[str, Any]] = {}
    """Of Korch's own arguments, where a program that was written for onnxruntime cannot give them."""
    programs: Specialisations
    makes: bool

    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: Any = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        *,
        threads: int | None = None,
        time_budget: float | None = None,
        numerics: str | None = None,
        shapes: Shapes | Sequence[Shapes] | None = None,
        tune: str | None = None,
        cache: bool | None = None,
        max_specialisations: int | None = None,
        **kwargs: Any,
    ) -> None:
        given: dict[str, Any] = {
            "threads": threads,
            "time_budget": time_budget,
            "numerics": numerics,
            "tune": tune,
            "cache": cache,
            "max_specialisations": max_specialisations,
        }
        asked = {**_DEFAULTS, **_environment(), **self.defaults, **{k: v for k, v in given.items() if v is not None}}
        if asked["tune"] not in TUNE:
            raise Error(f"tune {asked['tune']!r} is not one of {', '.join(TUNE)}")
        sess_options = sess_options or session_options(asked["threads"] or 0)
        wanted = asked["threads"] if asked["threads"] is not None else int(sess_options.intra_op_num_threads)
        options = Options(wanted, asked["time_budget"], asked["numerics"])
        super().__init__(_source(path_or_bytes), sess_options, providers, provider_options, **kwargs)
        self._tune, self._reason = asked["tune"], self._why_untouched(sess_options)
        self._ports = [(a.name, np.dtype(dtype_of(a.type) or "V")) for a in self._inputs_meta]
        names = [name for name, _ in self._ports]
        settings = {name: getattr(sess_options, name) for name in _SETTINGS}
        self.programs = Specialisations(
            self._source, names, options, self._folder(asked["cache"]), settings, asked["max_specialisations"]
        )
        self.makes = self._tune == "background" and not self._reason
        for ahead in [shapes] if isinstance(shapes, Mapping) else shapes or self._static():
            self._meet(self._binding_of(ahead))

    def _why_untouched(self, sess_options: Any) -> str:
        """Why onnxruntime has to run the model, whatever its shapes; empty where it has not."""
        if (first := self.get_providers()[0]) != "CPUExecutionProvider":
            return f"onnxruntime runs the model by {first}"
        if sess_options.enable_profiling:
            return "onnxruntime profiles its runs"
        others = [a for a in self._inputs_meta if dtype_of(a.type) is None]
        return f"input {others[0].name!r} is {others[0].type}" if others else ""

    def _folder(self, cache: bool) -> Path:
        """Where programs are kept: the cache folder, or one that goes with this session."""
        try:
            if cache:
                folder = private_folder(default_folder())
                if os.access(folder, os.W_OK):
                    return archives_folder(folder).parent
                log.warning("the cache folder %s cannot be written; nothing is kept", folder)
        except (CacheError, OSError) as e:
            log.warning("%s; nothing is kept", words_of(e))
        folder = owned_folder("korch-session-")
        removed_with(self, folder)
        return folder

    def _static(self) -> list[Shapes]:
        """The shapes of a model that takes no others and is to be optimised now."""
        shapes = {a.name: a.shape for a in self._inputs_meta}
        static = all(isinstance(n, int) and n >= 0 for shape in shapes.values() for n in shape)
        return [shapes] if static and self._tune == "now" else []

    def _binding_of(self, shapes: Mapping[str, Sequence[Any]]) -> Binding:
        """The shapes of all inputs: as given, else the model's own."""
        names = [name for name, _ in self._ports]
        if unknown := [name for name in shapes if name not in names]:
            raise InputError(f"a shape is given for {unknown[0]!r}, but the inputs are {', '.join(names)}")
        own = {a.name: tuple(a.shape) for a in self._inputs_meta}
        binding = tuple(tuple(shapes.get(name, own[name])) for name in names)
        for name, shape in zip(names, binding, strict=True):
            if not all(isinstance(n, int) and n >= 0 for n in shape):
                raise InputError(f"input {name!r} has the dynamic shape {list(shape)}: give it one in `shapes`")
        return binding

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> Any:
        """The outputs named, in that order; all of them where none is named.

        A feed that does not fit the model is refused with onnxruntime's own error, which is an InputError too.
        """
        binding = self._binding(input_feed)
        if binding is None or (run_options is not None and not self._is_plain(run_options)):
            return self._by_base(output_names, input_feed, run_options)
        found = self.programs.known(binding)
        if found is None:
            results = self.base_run(output_names, input_feed, run_options)
            self._meet(binding)
            if self._tune == "now" and (whole := self._binding(input_feed)) not in (None, binding):
                self._meet(whole)  # values belong to it, as making the first program has shown
            return results
        if found.trial is not None:
            return self._tried(found, found.trial, output_names, input_feed)
        answer = self._by_program(found, input_feed)
        if answer is None:
            return self.base_run(output_names, input_feed, run_options)
        return self._named(answer, output_names, input_feed)

    def _named(
        self, answer: Mapping[str, Any], output_names: Sequence[str] | None, input_feed: Mapping[str, Any]
    ) -> Any:
        """The outputs asked for."""
        try:
            return [answer[name] for name in output_names] if output_names else list(answer.values())
        except KeyError:
            return self.base_run(output_names, input_feed)  # which says what is wrong

    def _tried(
        self, found: Specialisation, trial: Trial, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]
    ) -> Any:
        """One call of a trial, which ends once both have answered enough of them."""
        turn, start = trial.turn(), time.perf_counter()
        answer = self._by_program(found, input_feed) if turn.program else None
        if answer is None:
            results = self.base_run(output_names, input_feed)
        else:
            results = self._named(answer, output_names, input_feed)
        trial.enter(TrialCall(answer is not None, turn.counts), time.perf_counter() - start)
        if trial.ended:
            self.programs.decide(found)
        return results

    def _binding(self, feed: Mapping[str, Any]) -> Binding | None:
        """The shapes of the arrays; None where they are not all plain arrays of the types that the model takes."""
        shapes = list[tuple[int, ...]]()
        if len(feed) != len(self._ports):
            return None
        for name, dtype in self._ports:
            x = feed.get(name)
            if type(x) is not np.ndarray or x.dtype != dtype:
                return None
            shapes.append(x.shape)
        return tuple(shapes) if not self.programs.structural else self._with_values(shapes, feed)

    def _with_values(self, shapes: Sequence[tuple[int, ...]], feed: Mapping[str, Any]) -> Binding | None:
        """The shapes, and the values of inputs that decide what is computed; None where these are many numbers."""
        binding: list[Any] = list(shapes)
        for i, (name, _) in enumerate(self._ports):
            if name in self.programs.structural:
                if feed[name].size > MAX_VALUES:
                    return None
                binding[i] = feed[name].shape, tuple(feed[name].reshape(-1).tolist())
        return tuple(binding)

    def _by_base(self, output_names: Sequence[str] | None, feed: Mapping[str, Any], run_options: Any) -> Any:
        """Numbers and lists of them may fit a program as arrays; all else is onnxruntime's."""
        if run_options is None and (arrays := self._as_arrays(feed)) and self._binding(arrays) is not None:
            return self.run(output_names, arrays)
        return self.base_run(output_names, feed, run_options)

    def _as_arrays(self, feed: Mapping[str, Any]) -> dict[str, Any] | None:
        """The feed with numbers and lists of numbers as arrays of the inputs' types; None where there are none."""
        dtypes = dict(self._ports)
        if not any(isinstance(x, list | tuple | int | float | np.generic) for x in feed.values()):
            return None
        try:
            return {
                name: np.asarray(x, dtypes[name]) if isinstance(x, list | tuple | int | float | np.generic) else x
                for name, x in feed.items()
            }
        except (KeyError, ValueError, TypeError, OverflowError):
            return None

    def _is_plain(self, run_options: Any) -> bool:
        """Whether a program may answer: nobody ends the run early, and no adapter replaces weights."""
        return not (run_options.terminate or self.get_overridable_initializers())

    def _meet(self, binding: Binding) -> None:
        """A binding has arrived that was not known."""
        if self._reason:
            return
        found = self.programs.find(binding)
        if self._tune == "now":
            self.programs.make_now(found)
        SERVICE.attend(self)

    def _by_program(
        self, found: Specialisation, feed: Mapping[str, Any], outputs: Mapping[str, np.ndarray] | None = None
    ) -> dict[str, np.ndarray] | None:
        """All outputs by name; None where there is no program, or it has failed, which it will not again."""
        program = found.program
        if program is None:
            return None
        if self.programs.structural:
            feed = {name: x for name, x in feed.items() if name not in self.programs.structural}
        try:
            return program.run(feed, outputs)
        except Error as e:
            if not isinstance(e, InputError):
                self.programs.fail(found, words_of(e))
            return None

    def run_with_ort_values(self, output_names: Any, input_dict_ort_values: Any, run_options: Any = None) -> Any:
        """The outputs as OrtValues, of inputs that are such."""
        binding = self.io_binding()
        for name, value in input_dict_ort_values.items():
            binding.bind_ortvalue_input(name, value)
        for name in output_names or [a.name for a in self._outputs_meta]:
            binding.bind_output(name)
        self._validate_input(list(input_dict_ort_values))
        self.run_with_iobinding(binding, run_options)
        return binding.get_outputs()

    def run_async(
        self, output_names: Any, input_feed: Any, callback: Any, user_data: Any, run_options: Any = None
    ) -> None:
        """Runs in another thread, which calls `callback(results, user_data, error)`."""

        def work() -> None:
            try:
                answer = self.run(output_names, input_feed, run_options), user_data, ""
            except Exception as e:
                answer = list[Any](), user_data, str(e)
            callback(*answer)

        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError as e:
            raise Error(f"run_async starts no thread: {words_of(e)}; call run") from None

    def io_binding(self) -> IOBinding:
        """A binding of the caller's memory to inputs and outputs."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: Any, run_options: Any = None) -> None:
        """Runs on the memory that was bound."""
        if not isinstance(iobinding, IOBinding) or iobinding.owner is not self:
            raise InputError("the IOBinding is not of this session: make it by session.io_binding()")
        feeds, targets = iobinding.feeds(), iobinding.targets()
        binding = None if feeds is None or targets is None else self._binding(feeds)
        plain = run_options is None or self._is_plain(run_options)
        found = self.programs.known(binding) if binding is not None and plain else None
        answer = None
        if found is not None and found.trial is None and feeds is not None:
            answer = self._by_program(found, feeds, targets)
        if answer is not None:
            return iobinding.answer(answer)
        self._base_calls += 1
        self._base_used = time.monotonic()
        try:
            iobinding.run_natively(run_options)
        except Exception as e:
            raise in_one_line(e, InputError) from None
        if binding is not None and found is None:
            self._meet(binding)

    def status(self) -> SessionStatus:
        """What runs where and since when, and why there is no program where there is none."""
        return SessionStatus(self._tune, self._reason, self.has_base, self._base_calls, self.programs.statuses())

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """As onnxruntime has it; programs answer only where the first provider is the processor."""
        Theirs.set_providers(self, providers, provider_options)
        self._snapshot()
        self._reason = self._why_untouched(self.get_session_options())
        self.makes = self._tune == "background" and not self._reason

    def activity(self) -> int:
        return self.programs.last_call + self._base_calls

    def base_loaded(self) -> None:
        SERVICE.attend(self)

    def let_idle_base_go(self) -> bool:
        """Lets the base go where a program has taken over; whether to look again."""
        if not (self.has_base and self.programs.loaded) or self._reason:
            return False
        if time.monotonic() - self._base_used < IDLE_SECONDS:
            return True
        self.let_base_go()
        return False


_DEFAULTS: Mapping[str, Any] = {
    "threads": None,
    "time_budget": None,
    "numerics": "default",
    "tune": "background",
    "cache": True,
    "max_specialisations": MAX_SPECIALISATIONS,
}


def _environment() -> dict[str, Any]:
    """What the user asks for in the environment of a program."""
    return {"tune": os.environ["KORCH_TUNE"]} if os.environ.get("KORCH_TUNE") else {}


def _source(model: Source) -> ModelSource:
    if isinstance(model, str | os.PathLike):
        return ModelSource(Path(cast("str | os.PathLike[str]", model)))
    return ModelSource(model if isinstance(model, bytes) else model.SerializeToString())
