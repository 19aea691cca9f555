"""Fixtures for all tests: fits of few pieces that are made sooner, for what does not look at how good they are."""

import pytest

from tests.quick import quick


@pytest.fixture
def quick_fits():
    """In a test that asks for it."""
    with quick():
        yield


@pytest.fixture(scope="module")
def quick_module():
    """In a module that asks for it, its fixtures included."""
    with quick():
        yield
