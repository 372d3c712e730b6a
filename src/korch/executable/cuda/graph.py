"""Steps in streams that wait for each other, recorded as one CUDA graph: its edges are the schedule's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from korch.executable.cuda.schedule import Lanes

DeviceWork = Callable[[], None]
"""Starts what it stands for in PyTorch's current stream."""


def in_lanes(torch: Any, lanes: Lanes, work: Sequence[DeviceWork], others: Sequence[Any]) -> None:
    """Starts all steps: lane 0 in the current stream, each of the other lanes in one of the streams `others`.

    What the current stream held before comes before all of it, what it is given next after.
    """
    main = torch.cuda.current_stream()
    streams, awaited = [main, *others], {k for waits in lanes.waits for k in waits}
    for stream in streams[1:]:
        stream.wait_stream(main)
    marks: dict[int, Any] = {}
    for k, n in enumerate(lanes.lane):
        if n < 0:
            continue
        for earlier in lanes.waits[k]:
            streams[n].wait_event(marks[earlier])
        with torch.cuda.stream(streams[n]):
            work[k]()
        if k in awaited:
            marks[k] = streams[n].record_event()
    for stream in streams[1:]:
        main.wait_stream(stream)


def warmed(torch: Any, work: DeviceWork) -> None:
    """Runs `work` once outside of any graph: libraries choose, load and allocate what they need."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(stream):
        work()
    torch.cuda.synchronize()


def captured(torch: Any, work: DeviceWork, pool: Any = None) -> Any:
    """`work` as a graph; what it allocates belongs to the graph, or to `pool`.

    PyTorch keeps a workspace of cuBLAS for each stream. The graph's own must not be one that others write to while it
    runs: those from before are forgotten, and so are the graph's own afterwards.
    """
    graph = torch.cuda.CUDAGraph()
    _forget_workspaces(torch)
    try:
        with torch.no_grad(), torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            work()
    finally:
        _forget_workspaces(torch)
    return graph


def _forget_workspaces(torch: Any) -> None:
    forget = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if forget:
        forget()
