"""`korch COMMAND`: finds the command, runs it, and tells what went wrong in one line."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer

import korch
import korch.cli as room
from korch.errors import Error, VerificationError

FAILED, WRONG, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit codes: a verification failed; an error; Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit code, 0 only where all went well."""
    debug = os.environ.get("KORCH_DEBUG", "") not in ("", "0")
    logging.basicConfig(format="%(message)s", level=logging.DEBUG if debug else logging.WARNING, stream=sys.stderr)
    if threading.current_thread() is threading.main_thread():
        _end_in_order()
    try:
        code = typer.main.get_command(app())(args=arguments, prog_name="korch", standalone_mode=False) or 0
        sys.stdout.flush()
    except BaseException as e:
        return _exit_code(e, debug)
    return _interrupted() if code == INTERRUPTED else int(code)


def app() -> typer.Typer:
    """All commands of this folder."""
    result = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    result.callback(invoke_without_command=True)(_korch)
    for name, function in commands().items():
        if isinstance(function, typer.Typer):
            result.add_typer(function, name=name)
        else:
            result.command(name)(function)
    return result


def commands() -> dict[str, Callable[..., Any]]:
    """The function, or group of functions, of each file that is named like its file."""
    modules = {
        m.name: import_module(f"{room.__name__}.{m.name}") for m in iter_modules(room.__path__) if m.name[0] != "_"
    }
    return {
        name: getattr(m, name) for name, m in modules.items() if name != "main" and callable(getattr(m, name, None))
    }


def _korch(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Turns ONNX models into native programs whose kernels are the provably cheapest ones."""
    if version:
        typer.echo(f"korch {korch.__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _end_in_order() -> None:
    """Whoever terminates this process, or closes its terminal, ends what it has started too; `nohup` asks for the
    contrary."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _terminated)


def _terminated(number: int, frame: object) -> None:
    """Leaves as an exception does, which ends the processes that were started."""
    raise SystemExit(128 + number)


def _exit_code(e: BaseException, debug: bool) -> int:
    """Says in one line what happened; with KORCH_DEBUG after the traceback."""
    if debug and not isinstance(e, SystemExit):
        traceback.print_exception(e)
    match e:
        case SystemExit():
            return e.code if isinstance(e.code, int) else WRONG
        case KeyboardInterrupt() | typer.Abort():
            return _interrupted()
        case BrokenPipeError():
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter complains when it flushes
            return BROKEN_PIPE
        case VerificationError():
            return _complain(str(e), FAILED)
        case Error():
            return _complain(str(e), WRONG)
        case _ if text := getattr(e, "format_message", None):  # click's, which typer brings along under changing names
            return _complain(f"{text()} (see `korch --help`)", WRONG)
        case _:
            return _complain(f"{_unexpected(e)}; KORCH_DEBUG=1 shows where it comes from", WRONG)


def _unexpected(e: BaseException) -> str:
    if isinstance(e, OSError) and e.strerror:
        return f"{e.filename}: {e.strerror}" if e.filename else e.strerror
    return f"{type(e).__name__}: {e}" if str(e) else type(e).__name__


def _complain(text: str, code: int) -> int:
    typer.echo(f"error: {' '.join(text.split())}", err=True)
    return code


def _interrupted() -> int:
    typer.echo("interrupted", err=True)
    return INTERRUPTED
