"""Generated C for one cone (paper section 5.2). In: a cone. Out: one C function.

Start with `backend.py`: it asks the kernel forms of `forms/`. Loop nests are a form, and a product is a stage of them:
`schedule.py` cuts a cone into stages, `binding.py` gives these their loops, `emit.py` writes the function, `maps.py`,
`reductions.py` and `multiply.py` the nests in it. The other files are toolkits that several forms share.
"""
