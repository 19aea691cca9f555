import numpy as np

from pldc import PLDC
from pldc.problem.recipe import Rows
from pldc.select.cross_fit import CrossFit


def test_errors_are_those_at_the_rows_left_out_with_their_weights():
    rows = Rows(np.arange(5.0)[:, None], np.array([0.0, 2.0, 1.0, 5.0, 4.0]), np.arange(1.0, 6.0))
    splits = [(np.array([0, 1, 2]), np.array([3, 4])), (np.array([3, 4]), np.array([0, 1]))]  # the third row never is
    functions = [(PLDC.affine([1.0]),), (PLDC.affine([2.0]),)]
    values = [np.array([2.0, 2.0]), np.array([4.0, 4.0])]  # cut to what each has seen
    X, size, weight = CrossFit(functions, values, [(0.0, 2.0), (4.0, 5.0)], rows, splits).errors
    assert size.tolist() == [3.0, 2.0, 4.0, 2.0] and weight.tolist() == [4.0, 5.0, 1.0, 2.0]
    assert X[:, 0].tolist() == [3.0, 4.0, 0.0, 1.0]
