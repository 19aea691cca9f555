"""The spine: rows and settings in, what was learned out."""

from pldc.fit.settings import CrossValidation, Settings
from pldc.fit.spine import Fitted, fit, simplify

__all__ = ["CrossValidation", "Fitted", "Settings", "fit", "simplify"]
