"""Who may see what. Pure: the run tells it what was said, linked, unlinked and forgotten."""

from collections.abc import Iterable, Sequence


class Knowledge:
    """Of each scope, the canaries that it may see.

    A canary belongs to the scope that it was said in. Linking joins what two may see, and what either says from then
    on. After unlinking the one that was joined in may see what it had before, what it said itself, and what stands in
    its own chats and files; the other keeps everything.
    """

    def __init__(self, scopes: Sequence[str]) -> None:
        self._may = {scope: set[str]() for scope in scopes}
        self._own = {scope: set[str]() for scope in scopes}
        self._before = {scope: set[str]() for scope in scopes}
        self._forgotten = {scope: set[str]() for scope in scopes}
        self._into: dict[str, str] = {}
        self._met = {scope: {scope} for scope in scopes}
        self._all: set[str] = set()

    def say(self, scope: str, word: str) -> None:
        """Somebody of ``scope`` is about to say ``word``."""
        self._all.add(word)
        self._own[scope].add(word)
        for each in self.family(scope):
            self._may[each].add(word)

    def family(self, scope: str) -> list[str]:
        """Those that share a memory with ``scope``, itself among them; the one first that the others are part of."""
        home = self._into.get(scope, scope)
        return [home, *(member for member, into in self._into.items() if into == home)]

    def relatives(self, scope: str) -> set[str]:
        """Those that share a memory with ``scope`` or did so: what was written then may stay in the memory of both."""
        return self._met[scope] | {each for each, met in self._met.items() if scope in met}

    def link(self, member: str, into: str) -> None:
        """``member`` is about to become a part of ``into``."""
        self._before[member] = set(self._may[member])
        self._into[member] = into
        self._met[member].add(into)
        both = self._may[member] | self._may[into]
        self._may[member], self._may[into] = set(both), set(both)

    def unlink(self, member: str, in_hand: Iterable[str]) -> None:
        """``member`` is a part no longer; ``in_hand`` stood in its own chats and files then."""
        del self._into[member]
        self._may[member] &= self._before[member] | self._own[member] | set(in_hand)

    def forget(self, scope: str, words: Iterable[str]) -> None:
        """Everybody who shares the memory of ``scope`` has forgotten ``words``."""
        for each in self.family(scope):
            self._forgotten[each] |= set(words)
            for known in (self._may, self._own, self._before):
                known[each] -= set(words)

    def own(self, scope: str) -> list[str]:
        """What was said in the scope itself and not forgotten, oldest first."""
        return sorted(self._own[scope])

    def may(self, scope: str) -> frozenset[str]:
        return frozenset(self._may[scope])

    def was_forgotten(self, scope: str, word: str) -> bool:
        """Whether it ever was, in this scope's own chats; by a link it may be known again."""
        return word in self._forgotten[scope]

    def foreign(self, scope: str, found: Iterable[str]) -> set[str]:
        """Of what was found in ``scope``, that which must not be there."""
        return set(found) - self._may[scope]

    def foreign_in_summary(self, scope: str, found: Iterable[str]) -> set[str]:
        """As ``foreign``, of what was shown with what is to be summed up of a session of ``scope``.

        What was said while it was a part of another memory may be worked into that one later: which of the two a
        summary is for, its prompt does not say. What came of it, files and turns show.
        """
        return set.intersection(*(self.foreign(each, found) for each in self._met[scope]))

    def gone(self) -> set[str]:
        return self._all.difference(*self._may.values())

    def others(self, scope: str) -> list[str]:
        """What others may see and ``scope`` must not."""
        return sorted(self._all - self._may[scope])
