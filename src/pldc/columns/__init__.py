"""How the columns of a table become numbers: categories, dates and missing cells. Nothing of fitting."""

from pldc.columns.encoding import Encoding
from pldc.columns.features import Column, DatePart, Feature, Level, Missing, Number, Statistic

__all__ = ["Column", "DatePart", "Encoding", "Feature", "Level", "Missing", "Number", "Statistic"]
