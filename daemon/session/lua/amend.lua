-- Put another message in the place of one that waits, because its sender has edited it: it keeps its place in the list
-- and gets a stream id of its own. Harmless when repeated or late: it names what it replaces.
--
-- KEYS  1 in (stream)  2 session (hash)  3 waiting (list)  4 log (list)
-- ARGV  1 session key  2 stream id of the message that waits  3 most messages of a burst
--       4 its message id  5 the message that takes its place (JSON)
-- Returns
--   amended  the other one waits now
--   late     a turn that answers it is under way, or has been and is gone on with: it has read it as it was. Or a stop
--            waits behind it, which ends it as it stands
--   gone     it does not wait any more, or stands there under another stream id

local at, why = place_of(ARGV[2], ARGV[3], KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if not at then return why end

local new = redis.call('XADD', KEYS[1], '*', 'session', ARGV[1], 'id', ARGV[4], 'message', ARGV[5])
redis.call('LSET', KEYS[3], at, new)
redis.call('XDEL', KEYS[1], ARGV[2])
return 'amended'
