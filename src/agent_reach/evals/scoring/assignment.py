"""Maximum-weight one-to-one assignment: the Hungarian method with potentials, on floats.

Own code because the graph library's matching takes whole weights only; compared with brute force by property tests.
"""

from __future__ import annotations

from collections.abc import Sequence


def assign(weights: Sequence[Sequence[float]]) -> list[int]:
    """For each row the column it gets, or -1; maximises the sum of weights, a weight of 0 or less is never assigned.

    Shortest augmenting paths, O(rows^2 * columns) for rows <= columns (the narrow side is made the rows).
    """
    rows = len(weights)
    columns = len(weights[0]) if rows else 0
    if rows > columns:
        back = assign([[weights[row][column] for row in range(rows)] for column in range(columns)])
        result = [-1] * rows
        for column, row in enumerate(back):
            if row >= 0:
                result[row] = column
        return result
    row_price, column_price = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner, way = [0] * (columns + 1), [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0], column = row, 0
        least, seen = [float("inf")] * (columns + 1), [False] * (columns + 1)
        while owner[column]:
            seen[column], current, delta, following = True, owner[column], float("inf"), 0
            for other in range(1, columns + 1):
                if seen[other]:
                    continue
                cost = -max(weights[current - 1][other - 1], 0.0) - row_price[current] - column_price[other]
                if cost < least[other]:
                    least[other], way[other] = cost, column
                if least[other] < delta:
                    delta, following = least[other], other
            for other in range(columns + 1):
                if seen[other]:
                    row_price[owner[other]] += delta
                    column_price[other] -= delta
                else:
                    least[other] -= delta
            column = following
        while column:
            owner[column], column = owner[way[column]], way[column]
    result = [-1] * rows
    for column in range(1, columns + 1):
        row = owner[column]
        if row and weights[row - 1][column - 1] > 0:
            result[row - 1] = column - 1
    return result
