"""How much to smooth."""
