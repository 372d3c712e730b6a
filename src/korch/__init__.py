"""Korch: provably cheapest kernel orchestration for tensor programs."""
