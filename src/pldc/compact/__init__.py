"""Few pieces: maxima of K sums of curves less maxima of K, fitted by descent instead of a convex program."""
