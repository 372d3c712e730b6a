"""In: requests of the other rooms; out: locks, folders, processes, digests, deadlines, and facts of the processor.

Start reading at `processor`.
"""
