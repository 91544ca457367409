"""The names of all Redis keys of Millpond, each with its type and the reason why it has no expiry time.

``{n}`` is the partition, a hash tag: all keys of one session share a slot, so a script can touch them together. The
kind stands first and every part is percent-encoded (see ``daemon.sessionkey``), so names cannot collide.
"""

import zlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from daemon.bus.channel_names import ChannelNames
from daemon.sessionkey import encode_part


class SessionKeys(NamedTuple):
    """Keys used by the scripts of a session: its own keys, and those of its partition. ``Keys`` describes each."""

    session: str
    log: str
    waiting: str
    live: str
    notices: str
    lock: str
    traces: str
    inbox: str
    ready: str
    due: str
    asides: str
    grew: str
    unsettled: str
    dead: str


_OWN = ("session", "log", "waiting", "live", "notices", "lock", "traces")  # the session's own fields, which stand first
_SHARED = ("in", *SessionKeys._fields[len(_OWN) + 1 :])  # those of a partition; ``inbox`` is called ``in`` in Redis
NAMED_KEPT = 1_024  # sessions whose key names are kept: more than a process works on at a time, not to fill its caches
_channel_part = lru_cache(maxsize=256)(encode_part)


@lru_cache(maxsize=NAMED_KEPT)
def _named(of: str, session: str) -> SessionKeys:
    return SessionKeys(*[f"{of}:{kind}:{session}" for kind in _OWN], *[f"{of}:{kind}" for kind in _SHARED])


@dataclass(frozen=True)
class Keys(ChannelNames):
    """Key names under one prefix."""

    prefix: str
    partitions: int

    def partition(self, session: str) -> int:
        """The partition of a session, the same in every process at all times: the CRC-32 of its key, modulo."""
        return zlib.crc32(session.encode()) % self.partitions if self.partitions > 1 else 0

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        return tuple(f"{self.prefix}:{{{partition}}}" for partition in range(self.partitions))

    def _of_partition(self, partition: int, kind: str) -> str:
        return f"{self.prefix}:{{{partition}}}:{kind}"

    def _of_session(self, session: str, kind: str) -> str:
        return f"{self._prefixes[self.partition(session)]}:{kind}:{session}"

    def of(self, session: str) -> SessionKeys:
        """All keys used by the scripts of a session. The names are cached, because a turn needs them several times."""
        return _named(self._prefixes[self.partition(session)], session)

    def accepting(self, session: str, message_id: str) -> tuple[str, str, str, str]:
        """Keys used when a message is accepted: ``session``, ``waiting``, ``seen`` and ``overheard``."""
        of, own, seen = self._prefixes[self.partition(session)], f":{session}", encode_part(message_id)
        return f"{of}:session{own}", f"{of}:waiting{own}", f"{of}:seen{own}:{seen}", f"{of}:overheard{own}"

    def claiming(self, session: str) -> tuple[str, str, str]:
        """Keys used by a claim: ``session``, ``log`` and ``waiting``."""
        of, own = self._prefixes[self.partition(session)], f":{session}"
        return f"{of}:session{own}", f"{of}:log{own}", f"{of}:waiting{own}"

    def committing(self, session: str, channel: str) -> tuple[str, str, str, str, str, str, str]:
        """Keys used by a commit: ``session``, ``log``, ``waiting``, ``live``, ``out``, ``notices`` and ``traces``."""
        of, own = self._prefixes[self.partition(session)], f":{session}"
        out = f"{of}:out:{_channel_part(channel)}"
        return *self.claiming(session), f"{of}:live{own}", out, f"{of}:notices{own}", f"{of}:traces{own}"

    def delivering(self, session: str, reply: str) -> tuple[str, str]:
        """Keys used when a delivery is recorded: ``sent`` and ``traces``."""
        return f"{self._prefixes[self.partition(session)]}:sent:{reply}", self.traces(session)

    # One a partition. None has a TTL: each is emptied by its consumer.
    def inbox(self, partition: int) -> str:
        """``in``, stream: every accepted message that is not answered yet. Its length is the backlog."""
        return self._of_partition(partition, "in")

    def ready(self, partition: int) -> str:
        """``ready``, sorted set: sessions that a worker can claim, by the time since then (ms). A hint."""
        return self._of_partition(partition, "ready")

    def due(self, partition: int) -> str:
        """``due``, sorted set: every session with pending work, by its deadline (ms)."""
        return self._of_partition(partition, "due")

    def asides(self, partition: int) -> str:
        """``asides``, sorted set: commands to answer out of band, ``<session> <stream id in in>``, all scores 0."""
        return self._of_partition(partition, "asides")

    def grew(self, partition: int) -> str:
        """``grew``, stream: ``session-grew`` events, group ``consolidators``. A hint, and bounded."""
        return self._of_partition(partition, "grew")

    def unsettled(self, partition: int) -> str:
        """``unsettled``, sorted set: sessions with older messages to consolidate, by the time of the next look (ms)."""
        return self._of_partition(partition, "unsettled")

    def upcoming(self, partition: int) -> str:
        """``upcoming``, sorted set: active reminders, ``<session> <id>``, by the time at which each fires (ms)."""
        return self._of_partition(partition, "upcoming")

    def dead(self, partition: int) -> str:
        """``dead``, stream: messages that could not be answered, until an operator drops or replays them."""
        return self._of_partition(partition, "dead")

    def out(self, partition: int, channel: str) -> str:
        """``out``, stream: replies not yet delivered to a push channel."""
        return f"{self._of_partition(partition, 'out')}:{_channel_part(channel)}"

    def leader(self, partition: int, channel: str) -> str:
        """``leader``, hash: the process that sends the replies in ``out``. Its fence outlives every holder."""
        return f"{self._of_partition(partition, 'leader')}:{encode_part(channel)}"

    def poller(self, channel: str) -> str:
        """``poller``, hash: the process that polls a platform. Its fence outlives every holder."""
        return f"{self.prefix}:poller:{{{encode_part(channel)}}}"

    def moved(self, channel: str) -> str:
        """``moved``, hash: chats whose platform changed their ID, with the new ID. Needed while the chat exists."""
        return f"{self.prefix}:moved:{{{encode_part(channel)}}}"

    def unknown(self, partition: int) -> str:
        """``unknown``, stream, TTL a week, bounded: parts of replies with unknown delivery status."""
        return self._of_partition(partition, "unknown")

    # One a session. Those without a TTL are the session's truth and end with it.
    def session(self, session: str) -> str:
        """``session``, hash: positions, lease, attempts, scope."""
        return self._of_session(session, "session")

    def log(self, session: str) -> str:
        """``log``, list: the messages from index ``base`` on. Beyond ``head``: the journal of the turn in progress."""
        return self._of_session(session, "log")

    def waiting(self, session: str) -> str:
        """``waiting``, list: stream IDs in ``in``, oldest first. Gone when empty."""
        return self._of_session(session, "waiting")

    def lock(self, session: str) -> str:
        """``lock``, hash: the worker that consolidates the session. Its fence outlives every holder."""
        return self._of_session(session, "lock")

    def live(self, session: str) -> str:
        """``live``, string, TTL ``queue.live_ttl_s``: the text being written, for viewers who join."""
        return self._of_session(session, "live")

    def notices(self, session: str) -> str:
        """``notices``, stream, TTL ``queue.notice_ttl_s``: notices that pull channels show and no model reads."""
        return self._of_session(session, "notices")

    def traces(self, session: str) -> str:
        """``traces``, list, TTL a week: timings of the newest turns and of their deliveries, without text."""
        return self._of_session(session, "traces")

    def seen(self, session: str, message_id: str) -> str:
        """``seen``, string, TTL ``queue.seen_ttl_s``: the ID of a platform message that was accepted."""
        return f"{self._of_session(session, 'seen')}:{encode_part(message_id)}"

    def sent(self, session: str, reply: str) -> str:
        """``sent``, hash, TTL a day once it is delivered, a week before: the outcome of each part of a reply."""
        return f"{self._of_partition(self.partition(session), 'sent')}:{reply}"

    def said(self, session: str, reply: str) -> str:
        """``said``, string, TTL a week: a completed call of the tool ``message``."""
        return f"{self._of_partition(self.partition(session), 'said')}:{reply}"

    def forgetting(self, session: str) -> str:
        """``forgetting``, string, TTL ten minutes: a search text to forget, and the list of matches to choose from."""
        return self._of_session(session, "forgetting")

    def overheard(self, session: str) -> str:
        """``overheard``, sorted set, TTL a day: group messages since the bot was last addressed, in their order."""
        return self._of_session(session, "overheard")

    def bots(self, session: str) -> str:
        """``bots``, sorted set, TTL an hour: messages of other bots that were answered since a person last wrote."""
        return self._of_session(session, "bots")

    def told(self, session: str, kind: str) -> str:
        """``told``, string, TTL a minute: the last line of a kind in a chat, which is not repeated so soon."""
        return f"{self._of_session(session, 'told')}:{encode_part(kind)}"

    def reminders(self, session: str) -> str:
        """``reminders``, hash: the reminders of a chat, by their IDs. Gone when empty."""
        return self._of_session(session, "reminders")

    def segments(self, session: str) -> str:
        """``segments``, list: the newest archived parts of the log, and the name of a file with the older parts."""
        return self._of_session(session, "segments")

    def restoring(self, session: str, nonce: str) -> str:
        """``restoring``, list, TTL an hour: messages of an older session that will become this session's log."""
        return f"{self._of_session(session, 'restoring')}:{nonce}"

    # One a scope, whose partition is that of its own name. None has a TTL: they are what a bot remembers.
    def memory(self, scope: str) -> str:
        """``memory``, hash: MEMORY.md and its version, and the consolidated position and fence of each session."""
        return self._of_session(scope, "memory")

    def history(self, scope: str) -> str:
        """``history``, list: the content of HISTORY.md, one entry for each consolidated range."""
        return self._of_session(scope, "history")

    def versions(self, scope: str) -> str:
        """``versions``, list: every version of MEMORY.md, and its cause."""
        return self._of_session(scope, "versions")

    def notes(self, scope: str) -> str:
        """``notes``, list: the daily notes."""
        return self._of_session(scope, "notes")

    def undigested(self, scope: str) -> str:
        """``undigested``, list, gone when empty: raw entries missing from MEMORY.md, by index in history."""
        return self._of_session(scope, "undigested")

    def clearing(self, session: str) -> str:
        """``clearing``, string, TTL a minute: unlisted archive files are being deleted, and nothing can be listed."""
        return self._of_session(session, "clearing")

    def shelved(self, scope: str) -> str:
        """``shelved``, list, gone when empty: the archived parts of history, versions and notes, as in ``segments``."""
        return self._of_session(scope, "shelved")

    # One a database.
    @property
    def meta(self) -> str:
        """``meta``, hash: schema and number of partitions, fixed at first use, and the database's ID."""
        return f"{self.prefix}:meta"

    @property
    def sessions(self) -> str:
        """``sessions``, sorted set: every session by its last activity (ms)."""
        return f"{self.prefix}:sessions"

    @property
    def archives(self) -> str:
        """``archives``, hash: every archive that a process of this database writes to, by its ID."""
        return f"{self.prefix}:archives"

    @property
    def collecting(self) -> str:
        """``collecting``, string, TTL an hour: a process looks for unlisted files of the archive."""
        return f"{self.prefix}:collecting"

    @property
    def retaining(self) -> str:
        """``retaining``, string, TTL an hour: a process deletes data that is older than the configured retention."""
        return f"{self.prefix}:retaining"

    @property
    def workers(self) -> str:
        """``workers``, hash: one heartbeat for each process. Other processes remove stale heartbeats."""
        return f"{self.prefix}:workers"

    @property
    def labels(self) -> str:
        """``labels``, hash: the title of a session, and since when (ms) it is pinned or archived in lists."""
        return f"{self.prefix}:labels"

    # What must go on after a crash; all in one slot.
    @property
    def jobs(self) -> str:
        """``jobs``, sorted set: unfinished jobs, by the time at which a process should take them (ms)."""
        return f"{self.prefix}:jobs:{{jobs}}"

    @property
    def jobs_ended(self) -> str:
        """``ended``, sorted set, TTL 30 days: finished jobs, by their end (ms)."""
        return f"{self.prefix}:ended:{{jobs}}"

    def job(self, job_id: str) -> str:
        """``job``, hash: a job: its task, its progress and its process; TTL 30 days once it has ended."""
        return f"{self.prefix}:job:{{jobs}}:{encode_part(job_id)}"

    # People with several identities.
    @property
    def people(self) -> str:
        """``people``, hash: scopes that are part of another memory, and the scope of that memory."""
        return f"{self.prefix}:people"

    def pair(self, code: str) -> str:
        """``pair``, hash, TTL ten minutes: a code with which another chat asks for a link, and both answers."""
        return f"{self.prefix}:pair:{{pair}}:{encode_part(code)}"

    def linking(self, scope: str) -> str:
        """``linking``, hash, TTL ten minutes: the newest code that a person created or sent."""
        return f"{self.prefix}:linking:{{pair}}:{scope}"

    def tries(self, scope: str) -> str:
        """``tries``, hash, TTL ten minutes: a person's messages with a wrong code."""
        return f"{self.prefix}:tries:{{pair}}:{scope}"

    def login(self, digest: str) -> str:
        """``login``, string, TTL ten minutes: an unused log-in link, by the hash of its code."""
        return f"{self.prefix}:login:{{login}}:{digest}"

    def visitor(self, digest: str) -> str:
        """``visitor``, string, TTL 30 days: a logged-in browser, by the hash of its cookie."""
        return f"{self.prefix}:visitor:{{login}}:{digest}"

    def approval(self, approval_id: str) -> str:
        """``approval``, hash, TTL a day: whether a command of the tool ``exec`` may run, without the command."""
        return f"{self.prefix}:approval:{{{approval_id}}}"

    @property
    def audit(self) -> str:
        """``audit``, stream, bounded: the actions of operators."""
        return f"{self.prefix}:audit"

    def errors(self, minute: int) -> str:
        """``errors``, hash, TTL 20 minutes: model errors in a minute of the epoch, by their kind."""
        return f"{self.prefix}:errors:{minute}"

    def rates(self, hour: int) -> str:
        """``rates``, hash, TTL 26 hours: the numbers of each minute and process of an hour of the epoch (JSON)."""
        return f"{self.prefix}:rates:{hour}"

    @property
    def lost(self) -> str:
        """``lost``, sorted set, TTL 7 days: accepted messages that a failover lost, by when it was found (s)."""
        return f"{self.prefix}:lost"

    def learnt(self, server: str, model: str) -> str:
        """``learnt``, string, TTL 7 days: the learned properties of a server's model (JSON)."""
        return f"{self.prefix}:learnt:{encode_part(server)}:{encode_part(model)}"

    def failing(self, server: str, model: str, account: str) -> str:
        """``failing``, hash, TTL a day: why a server's model cannot be called, and the time of the next call."""
        return f"{self.prefix}:failing:{encode_part(server)}:{encode_part(model)}:{account}"

    # Who may speak on a push channel; what one script touches lies in one slot.
    def access(self, channel: str) -> str:
        """``access``, hash: approved and banned people and groups, by their platform IDs."""
        return f"{self.prefix}:access:{{{encode_part(channel)}}}"

    def codes(self, channel: str) -> str:
        """``codes``, hash, TTL an hour: unknown senders who received a code, at most 100, by their platform IDs."""
        return f"{self.prefix}:codes:{{{encode_part(channel)}}}"

    def guesses(self, channel: str, person: str) -> str:
        """``guesses``, hash, TTL ten minutes: an administrator's messages with a wrong code."""
        return f"{self.prefix}:guesses:{{{encode_part(channel)}}}:{encode_part(person)}"

    def paused(self, bot: str) -> str:
        """``paused``, hash: chats in which a bot is paused; ``*`` means all chats."""
        return f"{self.prefix}:paused:{{{encode_part(bot)}}}"

    def preferences(self, bot: str) -> str:
        """``preferences``, hash: the time zones that people chose, and who wants no reminders of a bot."""
        return f"{self.prefix}:preferences:{{{encode_part(bot)}}}"

    def usage(self, day: str, kind: str) -> str:
        """``usage``, hash, TTL 400 days: the usage of a day, by ``bot``, ``person``, ``session`` or ``model``."""
        return f"{self.prefix}:usage:{{{day}}}:{kind}"

    def usage_noted(self, day: str) -> str:
        """``usage``, hash, TTL two days: the turns that a day's usage already includes."""
        return self.usage(day, "noted")

    def usage_told(self, day: str) -> str:
        """``usage``, hash, TTL two days: the users who were told that the day's tokens are used up."""
        return self.usage(day, "told")

    def usage_reserved(self, day: str) -> str:
        """``usage``, hash, TTL two days: the tokens and costs that calls in progress have reserved."""
        return self.usage(day, "reserved")

    def proactive(self, bot: str, day: str) -> str:
        """``proactive``, hash, TTL two days: the reminders that fired on a day, by person and for the bot."""
        return f"{self.prefix}:proactive:{{{encode_part(bot)}}}:{day}"

    def bucket(self, bot: str, kind: str, name: str) -> str:
        """``bucket``, hash, TTL two minutes: the remaining message rate of a ``chat``, a ``person`` or a ``bot``."""
        return f"{self.prefix}:bucket:{{{bot}}}:{kind}:{name}"

    def web(self, place: int) -> str:
        """``web``, string, TTL ``bots.<name>.web.cache_ttl_s``: a search or a page; 256 places, all in one slot."""
        return f"{self.prefix}:web:{{web}}:{place}"

    def pace(self, channel: str, bucket: str) -> str:
        """``pace``, list, TTL twice the bucket's time: the times of the last messages sent to a platform (ms)."""
        return f"{self.prefix}:pace:{{{encode_part(channel)}}}:{encode_part(bucket)}"
