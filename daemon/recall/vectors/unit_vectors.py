"""Vectors of length 1, whose product is the cosine of the angle between them."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]
"""One vector a row."""


def unit(vectors: Vectors) -> Vectors:
    """Each row at length 1; rows of zeros stay as they are."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    return np.where(lengths > 0, vectors / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)
