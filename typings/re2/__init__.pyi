"""What Millpond uses of the package google-re2, which comes without types."""

class error(Exception): ...  # noqa: N801 - the library calls it so

class Options:
    log_errors: bool
    literal: bool
    case_sensitive: bool

class _Match:
    def start(self) -> int: ...

class _Regexp:
    def search(self, text: str) -> _Match | None: ...

def compile(pattern: str, options: Options | None = ...) -> _Regexp: ...
def search(pattern: str, text: str, options: Options | None = ...) -> _Match | None: ...
