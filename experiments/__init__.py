"""Experiments on real data; not part of the package."""
