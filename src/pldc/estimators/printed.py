"""A fitted model as text and HTML: what ``print`` and notebooks show."""

from __future__ import annotations

from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pldc.estimators.summary import summary


class Printed:
    """Five lines of a fitted model; goes before scikit-learn's own class."""

    def summary(self) -> str:
        """Return five lines on a fitted model: pieces, score, certificate, settings, what matters and seconds."""
        check_is_fitted(self, "model_")
        return summary(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the summary of a fitted model; before, and as a step of a pipeline, it is scikit-learn's."""
        known: str = summary(self) if "model_" in vars(self) else super().__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        return known

    def _repr_html_inner(self) -> str:
        inner: str = super()._repr_html_inner()  # type: ignore[misc]
        return inner + self._html_summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._html_summary()
        return bundle

    def _html_summary(self) -> str:
        """Return the summary to stand below scikit-learn's diagram."""
        return f"<pre>{escape(summary(self))}</pre>" if "model_" in vars(self) else ""
