"""Tables beyond memory, or on several machines: blocks of rows that are added up where they are."""

from pldc.scale.held import Hold, held
from pldc.scale.sample import Draw, Sample, drawn
from pldc.scale.shards import Block, Blocks, Shards, Sums

__all__ = ["Block", "Blocks", "Draw", "Hold", "Sample", "Shards", "Sums", "drawn", "held"]
