# SPDX-License-Identifier: BSD-3-Clause
"""Fits by least squares, without a library to install."""


def least_squares(rows: list[list[float]], values: list[float]) -> list[float]:
    """Returns the factors for which the products with the rows are nearest to the values."""
    size = len(rows[0])
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(size)]
              + [sum(row[i] * value for row, value in zip(rows, values))] for i in range(size)]
    for i in range(size):  # Gauss-Jordan, on the normal equations
        pivot = max(range(i, size), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        matrix[i] = [cell / matrix[i][i] for cell in matrix[i]]
        for k in range(size):
            if k != i:
                matrix[k] = [a - matrix[k][i] * b for a, b in zip(matrix[k], matrix[i])]
    return [row[size] for row in matrix]
