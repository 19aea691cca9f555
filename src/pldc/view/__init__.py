"""Looking at what was learned; needs the extra ``plot``."""

from pldc.view.classes import plot_classes
from pldc.view.model import plot_model
from pldc.view.plots import plot_path, plot_regions, plot_simplification, plot_surface

__all__ = ["plot_classes", "plot_model", "plot_path", "plot_regions", "plot_simplification", "plot_surface"]
