"""Curators and embedders: the only code that knows a vendor."""
