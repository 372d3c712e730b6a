"""Backends for x86 CPUs: generated C (`loops`) and oneDNN (`onednn`), over one small C runtime."""
