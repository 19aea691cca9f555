"""How much to smooth, and along which directions."""
