"""Torch, where a device is asked for."""

from __future__ import annotations

from typing import Any


def torch_on(device: str) -> tuple[Any, Any]:
    """Return torch and the device of that name, which must know double precision."""
    try:
        import torch
    except ImportError as error:
        raise ImportError('device= needs torch: pip install "pldc[gpu]", or leave device out.') from error
    try:
        found = torch.device(device)
        torch.zeros(1, dtype=torch.float64, device=found)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device={device!r} cannot be used: {str(error).splitlines()[0]}") from error
    return torch, found
