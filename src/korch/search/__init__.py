"""A graph with choices and a target in, its program out: solve and measure until the plan is proved and accurate.

Start reading at `model`, then `attempt` (the phases), `tuning` (the loop) and `offers` (what is known of a cost).
"""
