"""Every number that steers the search, with the figure that made it.

Numbers of single algorithms stand with these: how a kernel is timed (`profile/timing.py`), which samples count
(`system/samples.py`), how wide the solver searches (`solve/solve.py`).
"""

from __future__ import annotations

# ---- when time is short ------------------------------------------------------------------------------------------

SHORT = 90.0
"""Seconds left below which time is short."""
FINISH = 16.0
"""Seconds kept for linking, checking and timing the program; of a short budget a fifth. (With 6 seconds the program was
timed once, in a slow moment: 515 ms of `efficientvit`, 433 half a minute later.)"""
LAST = 80.0
"""Seconds that exploring keeps for what follows, or a quarter of what is left where that is less."""
LOOK = 25.0
"""Seconds left that are enough to measure kernels again, and to time a plan with them in place."""
EARLIER = 0.25
"""The share of the time for timing links in place. (`efficientvit`: 225 offers in 48 s instead of 397 in 98.)"""
FAR = 3 << 23
"""Bytes between kernels that come from memory wherever they stand: a short search keeps only chains that avoid these.
(`efficientvit` with 30 seconds: 0.70 of the full search's speed without any chains, 0.84 with these; `segformer` 0.91
and 0.89, 0.78 with those of 16 MB, too.)"""

# ---- how much is measured between two solutions ------------------------------------------------------------------

BATCH, SKETCHED, HURRIED = 80, 30, 48
"""Offers measured between two solutions; fewer for a sketch, or where time is short."""
SETTLED = 0.03
"""The share of a plan's expected time that need not be measured, in phases that solve with expectations."""
ROUGHLY = 0.1
"""The same of a plan of links, which is there to be timed in place."""
CLOSE_BY = 0.002
"""Of a plan's time: the reduced cost up to which candidates that were not picked are measured with those that were."""

# ---- how exact solutions are -------------------------------------------------------------------------------------

ROUGH, FINE = 0.02, 0.002
"""Relative gap at which a solution is good enough to say what to measure next, and to be the plan when time is over."""
SHARE, PROOF_SHARE = 0.25, 0.75
"""Of the solver's remaining time, for one solution and for a proof."""
SOLVER_SECONDS = 100.0
"""For all solutions of a search."""
LEAST_SOLVING = 4.0
"""Seconds that any solution may take: without a relaxation it would be blind."""
PHYSICAL_SECONDS = 5.0
"""For the bound on plans whose unmeasured kernels cost what physics allow."""
MOVED = 0.02
"""Of the predicted time: where the plan's kernels changed by less since its proof, it stands."""

# ---- expectations ------------------------------------------------------------------------------------------------

SPREAD = 0.12
"""By how much a kernel's time in a program may differ from its time alone: its neighbours leave caches warm, and of
kernels timed alone the cheapest are those that were lucky (winner's curse). (A chain of kernels stood against its
links, whose times in a program were known, with its own alone, and lost by 2%; 5.8 ms alone, 7.1 in a program: of
`efficientvit`, when time was over.)"""
OUTLYING = 1.25
"""How many times as long as others of its kind, relative to their times alone, a kernel may take in a program before it
is timed there again. (A depthwise convolution with SiLU took 129 us alone and 219 in place, in a slow moment; without
it three kernels of 200 were in the plan.)"""
DOUBT, HALF = 0.3, 0.5
"""By how much of its time a kernel may have been measured too slow, and one that is so far from what its kind can do.
(Virtual machines lose a third of their pace for seconds, and now and then half for ten: the kernel that five blocks of
`efficientvit` are made of was out of the plan with 27.6 instead of 13.8 ms.)"""
REMEASURED, REMEASURED_EARLY = 96, 48
"""Kernels measured again at most, and after the first plan."""
WORTH = 0.001
"""Of a plan's time: what a kernel must be able to save to be measured again."""

# ---- memory ------------------------------------------------------------------------------------------------------

HOLDS, ANYWAY = 2.5, 1 << 27
"""How many times the model's own constants a plan may hold, and bytes that it may hold whatever the model has.
(`yolov4` with Winograd's F(4, 3) wherever it gained a little held three times its 257 MB.)"""

# ---- accuracy ----------------------------------------------------------------------------------------------------

MOST_ATTEMPTS = 3
"""Searches for a program that errs little enough before all choices go that are not exact."""
MOST_BANS = 4
"""Searches without kernels that err too much, where there is no such choice left."""
HEAVY = 1 << 30
"""Multiply-adds of a model whose float64 outputs another process evaluates while cones are enumerated and priced and
the first kernels are built: those of 28 billion took 22 seconds when all else was done."""
