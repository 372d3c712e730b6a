"""Questions to another process that may stop reading or writing at any byte."""

from __future__ import annotations

import socket
import struct
import sys
from math import isfinite
from multiprocessing.connection import Connection


def limit(connection: Connection, seconds: float) -> None:
    """From now on a `send` or `recv` of which no byte moves for so many seconds raises BlockingIOError, and leaves the
    connection unusable; without a limit where `seconds` is inf. (Connections are sockets, but on Windows.)"""
    if sys.platform == "win32":
        return
    whole = min(seconds, float(1 << 30)) if isfinite(seconds) else 0.0
    value = struct.pack("ll", int(whole), max(int(whole % 1 * 1e6), int(isfinite(seconds))))
    end = socket.socket(fileno=connection.fileno())
    try:
        for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            end.setsockopt(socket.SOL_SOCKET, option, value)
    finally:
        end.detach()
