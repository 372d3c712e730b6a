"""Every error that Korch raises on purpose: one line that names the thing and the way out."""

from __future__ import annotations


def line_of(e: BaseException) -> str:
    """The first line of what an exception of others says, or its name where it says nothing."""
    return (str(e).splitlines() or [type(e).__name__])[0]


def words_of(e: BaseException, most: int | None = 200) -> str:
    """The text of an exception of others in one line; at most so many characters of it."""
    return " ".join(str(e).split())[:most] or type(e).__name__


class Error(Exception):
    """The root of all errors of Korch; its text is one line fit for a terminal, whatever the names in it are."""

    def __str__(self) -> str:
        return "".join(c if c.isprintable() else " " for c in super().__str__())


class ModelError(Error):
    """The ONNX model is malformed, incomplete or asks for something that cannot be compiled."""


class UnreadableModel(ModelError):
    """The system does not let a file of the model be read; a moment later it may."""


class NeedsSegments(ModelError):
    """The model is no one static program: it branches on data, or computes what has no number or no shape of its own.
    Cut into segments it can be run (see `executable/segmented.py`)."""


class InputError(Error, ValueError):
    """The arrays given to a run do not fit the model's inputs."""


class ArchiveError(Error):
    """A `.korch` archive is damaged, of another version, or made for another machine."""


class DamagedArchive(ArchiveError):
    """A `.korch` archive is not as it was written."""


class CacheError(Error):
    """The cache folder or its database cannot be opened, read or written, or another user may change them."""


class FolderError(Error, OSError):
    """A private folder among the temporary files cannot be made."""


class BackendError(Error):
    """A backend's compiler or library is missing or failed."""


class SolverError(Error):
    """No solver produced a plan that passes the independent check."""


class NoPlan(SolverError):
    """No candidate makes `tensor`, which is needed."""

    def __init__(self, message: str, tensor: str) -> None:
        super().__init__(message)
        self.tensor = tensor


class VerificationError(Error):
    """A kernel or a whole program differs from its reference by more than its bound."""
