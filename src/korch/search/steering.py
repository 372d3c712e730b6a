"""Every number that steers the search, with the figure that made it.

Elsewhere: how a kernel is timed (`profile/timing.py`), which samples count (`system/samples.py`), and how wide the
solver searches (`solve/solve.py`).
"""

from __future__ import annotations

# ---- when time is short ----------------------------------------------------------------------------------------

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
"""Bytes between kernels that come from memory wherever they stand: a short search begins with chains that avoid these.
(`efficientvit` with 30 seconds: 0.70 of the full search's speed without any chains, 0.84 with these; `segformer` 0.91
and 0.89, 0.78 with those of 16 MB, too.)"""
LINKS_FIRST, CHAINS_TRIED = 0.5, 10
"""Of a short search: the share of its time for a plan without uncertain chains, and how many chains, made of kernels of
that plan, are measured then. (30 seconds on Zen 5, of the full search's speed, without and with: `candy` 0.91 and 0.97,
`efficientvit` 0.91 and 0.89, `segformer` 0.88, `yolov4` 0.99, `yolox_nano` 0.98 either way.)"""

# ---- how much is measured between two solutions ----------------------------------------------------------------

BATCH, SKETCHED, HURRIED = 80, 30, 48
"""Offers measured between two solutions; fewer for a sketch, or where time is short."""
SETTLED = 0.03
"""The share of a plan's expected time that need not be measured, in phases that solve with expectations."""
ROUGHLY = 0.1
"""The same of a plan of links, which is there to be timed in place."""
TAKEN_OVER = 0.2
"""The same of a plan that is taken over from another binding. It must be there in seconds; a search may refine it."""
SURPRISING, SURPRISE_WORTH = 0.3, 0.01
"""By how much more than expected, and by what share of the plan's time, one of its kernels must take for other backends
to be asked."""
TAKEN_OVER_TIMED = 0.3
"""Seconds after which such a program's steps are not timed once more. (2 of 10 seconds of an encoder of 256 tokens.)"""
CLOSE_BY = 0.002
"""Of a plan's time: the reduced cost up to which candidates that were not picked are measured with those that were."""

# ---- how exact solutions are -----------------------------------------------------------------------------------

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
PROOF_SECONDS = 60.0
"""For the tree of a certificate."""
MOVED = 0.02
"""Of the predicted time: where the plan's kernels changed by less since its proof, it stands."""

# ---- expectations ----------------------------------------------------------------------------------------------

SPREAD = 0.12
"""By how much a kernel's time in a program may differ from its time alone: its neighbours leave caches warm, and of
kernels timed alone the cheapest are those that were lucky (winner's curse). (A chain of kernels stood against its
links, whose times in a program were known, with its own alone, and lost by 2%; 5.8 ms alone, 7.1 in a program: of
`efficientvit`, when time was over.)"""
OUTLYING = 1.25
"""How many times as long as others of its kind, relative to their times alone, a kernel may take in a program before it
is timed there again. (A depthwise convolution with SiLU took 129 us alone and 219 in place, in a slow moment; without
it three kernels of 200 were in the plan.)"""
SLOWED, FAR_OUT = 0.3, 0.5
"""By how much of its time a kernel may have been measured too slow, and one that is so far from what its kind can do.
(Virtual machines lose a third of their pace for seconds, and now and then half for ten: the kernel that five blocks of
`efficientvit` are made of was out of the plan with 27.6 instead of 13.8 ms.)"""
REMEASURED, REMEASURED_EARLY = 96, 48
"""Kernels measured again at most, and after the first plan."""
WORTH = 0.001
"""Of a plan's time: what a kernel must be able to save to be measured again."""

# ---- memory ----------------------------------------------------------------------------------------------------

HOLDS, ANYWAY = 2.5, 1 << 27
"""How many times the model's own constants a plan may hold, and bytes that it may hold whatever the model has.
(`yolov4` with Winograd's F(4, 3) wherever it gained a little held three times its 257 MB.)"""

# ---- accuracy --------------------------------------------------------------------------------------------------

MOST_ATTEMPTS = 3
"""Searches for a program that errs little enough before all choices go that are not exact."""
MOST_BANS = 4
"""Searches without kernels that err too much, where there is no such choice left."""
UNLIKELY_ERROR = 2e-5
"""Numerics that allow more have their errors estimated only for a program that errs too much: all loose primitives of
the five workloads together err by 4e-6 at most, and estimates take 0.2 to 6 s."""
PROBE_SECONDS, PROBE_SHARE = 3.0, 0.02
"""For probes of the gains from tensors to the outputs, and the share of a short search that they may take. (`candy`
has 20 tensors to probe, 0.2 s each; those that are left out take the gains of their neighbours.)"""
TRADE_OFFS, TRADE_OFF_STEP, FIRST_SHARE, TRADE_OFF_SHARE = 8, 0.5, 0.5, 0.3
"""Plans of latency against error at most, the estimated error of the last one that the next may have, the share of the
time for the first one, and of what is left then for each other one. (At modelled costs four steps of one half take
`candy` from 47 to 121 ms, its time without loose primitives.)"""
LOOKAHEAD_SECONDS = 2.0
"""For a solution with another error limit, at the costs that are known by then."""
TIGHT, OVERESTIMATED, WORTH_ANOTHER = 0.5, 0.5, 0.01
"""A plan that uses so much of its error budget by the estimate and errs less than so much of that is made again with
the estimate corrected, if that saves so much of its time."""
HEAVY = 1 << 30
"""Multiply-adds of a model whose float64 outputs another process evaluates while cones are enumerated and priced and
the first kernels are built: those of 28 billion took 22 seconds when all else was done."""

# ---- kernels that err too much ---------------------------------------------------------------------------------------

MIN_ERROR_SAVED = 0.25
"""Of a kernel's error: what does not save so much is no reason to do without the kernel."""
ERROR_MARGIN_OF_BANS = 0.8
"""Of what would just fit: kernels go until the errors of the rest are down to this, as they do not add up exactly."""

# ---- building --------------------------------------------------------------------------------------------------------

BUILD_SECONDS = 120.0
"""Seconds that building for one cone may take elsewhere."""
MIN_CHAINS_FOR_A_PROCESS = 4
"""Cones of several linear primitives that are not worth another process's start."""

# ---- explanations ----------------------------------------------------------------------------------------------------

REPAIRED_TENSORS = 48
"""Tensors around a gap that a repair may make anew."""

# ---- more exact kernels (exchanged in a plan) ------------------------------------------------------------------------

AIMED_ERROR, CLOSE_ENOUGH_ERROR = 0.9, 0.85
"""Of what is allowed: what a plan is made to err, as errors do not add up exactly; and what is near enough to that."""
MIN_TELLING_ERROR = 0.01
"""Of what is allowed: an error below says nothing of how many more kernels may round."""
REFINEMENTS = 6
"""Programs with more kernels exact, until one fits and errs nearly as much as it may."""
WEIGHED_GROUPS = 8
"""Of neighbouring kernels, whose share of the error is found by rounding them alone. (The first 3 of `candy`'s 16
convolutions make two thirds of its squared error.)"""

# ---- forms of kernels ------------------------------------------------------------------------------------------------

NEAR_THE_BEST = 1.3
"""How many times as long as the best for its cone and precision a kernel may take for its form to be worth another
try."""
CONES_PER_FORM = 4
"""Cones for which a form must have been tried before it is given up."""

# ---- timing programs in place ----------------------------------------------------------------------------------------

RUNS, BLOCKS, PROFILE_SECONDS, MAX_PROFILE_SECONDS = (2, 12), (2, 4), 2.0, 6.0
"""Runs of a linked program over which its kernels are timed in place, and how often that is repeated, at least and at
most: as many as take no more than so many seconds; and seconds after which nothing is repeated because of a surprise.
(A program of half a second would have four blocks of three runs, 6 seconds, and five times that after a surprise.)"""
STEADY, MAX_TIMES = 0.03, 4
"""How far two times of a program may differ, one after the other, before it is timed once more: its plan's costs are
scaled to the last, and a machine that others use has moments of another pace."""
SUSPICIOUS, UNSUSPICIOUS_SECONDS, PAUSES = 1.15, 1e-5, (0.2, 0.5, 1.0, 2.0)
"""How much slower than the sum of its kernels a program may seem before it is timed again, and the seconds that it may
take without any; after so many seconds."""

# ---- kinds of kernels ------------------------------------------------------------------------------------------------

SAME_FROM = 3
"""So many of a trait and more count as the same."""
MIN_FOR_BOUNDS = 6
"""Measurements of a kind of kernel after which its best efficiency is trusted."""
BOUND_MARGIN = 0.95
MIN_FOR_EXPECTATIONS = 3
"""Kernels of a kind that must have been timed, alone or in place, before that tells what to expect of the others."""
EXPECTED_QUANTILE = 4
"""One in so many kernels of a kind is as good as is expected of those that nobody has timed."""

# ---- offers ----------------------------------------------------------------------------------------------------------

CHANNELS_FIRST_PENALTY = 4.0
"""By how much convolutions of channels-first images miss their bounds more than others, on processors. `loops` takes
only those whose channels would not fill a vector."""
BYTE_PRICE = 0.5
"""A byte of constants that a program holds for a kernel is worth as much of the time that memory takes to read it: ways
to multiply that are faster by less are not worth what they hold (Winograd's F(4, 3) has four times the weights)."""

# ---- price of memory -------------------------------------------------------------------------------------------------

PRICE_STEP, PRICE_PRECISION, PRICES_TRIED = 2.0, 1.2, 8
"""By how much memory becomes dearer while plans hold too much, how near the price is to be to the least that will do,
and how many prices a search tries. (`yolov4`, whose plans hold 835 MB of the 643 they may at the first price, 686 at
four times that and 433 at eight times: those take 10% longer.)"""
FULL_ENOUGH = 0.85
"""The share of what plans may hold from which on nobody looks for a lower price."""
PRICE_SPREAD = 0.5
"""How much dearer the last of equal kernels pays for being dear, so that they do not all go at one price."""

# ---- libraries -------------------------------------------------------------------------------------------------------

MIN_LIBRARY_GAIN = 0.005
"""Of a plan's time: what a library has to gain to be linked."""
