"""Generated code for recurrences: LSTM, GRU and RNN behind the product of their inputs.

In: a cone of one Recurrence with constant weights. Out: C whose threads share the hidden units of every step, or take
directions and batches for themselves. Start with `backend.py`.
"""
