"""PyTorch: a model as a module whose pieces can be trained further."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pldc.export.learned import in_single, learned, precision

if TYPE_CHECKING:
    from pldc.export.torch_layers import PiecewiseLinear


def to_torch(model: Any, dtype: str = "double") -> PiecewiseLinear:
    """Return a ``torch.nn.Module`` that predicts as the model does; its pieces are parameters.

    Called with rows (n, d) it returns predictions (n,), cut to the range of the model; of several quantiles (n, m),
    increasing; of classes the scores (n, m). Of classes it has ``probabilities(x)``, ``predict(x)``, the places of the
    highest scores, and ``classes``. NaN becomes the median of the training where the model is one of numbers without
    gaps. Any other takes features, not cells: ``model.model_.columns.apply(table)`` makes them.

    Parameters
    ----------
    model : fitted DCRegressor or DCClassifier, Model or PLDC
    dtype : {"double", "float"}, default="double"
        Of what it returns; "float64", and "single" or "float32", are the same. Pieces and sums are in double precision,
        also of a module whose rows and answers are single; ``module.float()`` makes all of it single, for devices
        without doubles, and then digits are lost far from the data.
    """
    dtype = precision(dtype)
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ImportError("to_torch needs PyTorch: pip install 'pldc[gpu]'.") from None
    from pldc.export.torch_layers import PiecewiseLinear

    return PiecewiseLinear(learned(model) if dtype == "double" else in_single(model), dtype)
