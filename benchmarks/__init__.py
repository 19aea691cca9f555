"""Speed and memory, side by side with peers; not part of the package."""
