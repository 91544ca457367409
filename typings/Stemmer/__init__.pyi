"""What Millpond uses of the package PyStemmer, which comes without types."""

class Stemmer:
    def __init__(self, language: str, maxCacheSize: int = ...) -> None: ...  # noqa: N803 - the library calls it so
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library calls it so
