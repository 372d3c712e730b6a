"""cuBLAS and cuDNN, reached through torch: products and convolutions with what they can end in, and attention.

In: a cone. Out: kernels that are one `Call` of the table in `calls.py`. Start with `backend.py`; `products.py`,
`convolutions.py` and `attention.py` say what is asked for, `device.py` how a GPU is asked and `plain.py` the host.
"""
