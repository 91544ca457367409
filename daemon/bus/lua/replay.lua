-- Replay a dead letter: its message waits again, at the end of its session's list, under the same id and past 'seen'; a
-- reply goes back onto out. It leaves dead in the same step, so that whatever arrives twice or late finds nothing.
--
-- KEYS  1 dead (stream)  2 in (stream)  3 waiting (list)  4 session (hash)  5 ready (zset)  6 due (zset)  7 out (stream)
-- ARGV  1 session key    2 stream id in dead  3 waiting_max  4 partition_max  5 wake-up (ms)  6 longest deadline (ms)
-- Returns
--   replayed  it waits again
--   gone      it was replayed or dropped before, also by this very call
--   full      the session holds waiting_max messages, or the partition partition_max; the letter stays
--   unknown   there is no such session; the letter stays

local session = ARGV[1]
local entry = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])[1]
if not entry then return 'gone' end

if entry[2][9] == 'reply' then
  redis.call('XADD', KEYS[7], '*', 'reply', entry[2][10])
  redis.call('XDEL', KEYS[1], ARGV[2])
  return 'replayed'
end

if redis.call('EXISTS', KEYS[4]) == 0 then return 'unknown' end
if redis.call('LLEN', KEYS[3]) >= tonumber(ARGV[3]) or redis.call('XLEN', KEYS[2]) >= tonumber(ARGV[4]) then
  return 'full'
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local waiting = redis.call('XADD', KEYS[2], '*', 'session', session, 'id', entry[2][4], 'message', entry[2][10])
redis.call('RPUSH', KEYS[3], waiting)
redis.call('XDEL', KEYS[1], ARGV[2])

-- Held or backing off: as in publish.lua, whoever holds it will see the list.
local function ahead(field)
  local deadline = tonumber(redis.call('HGET', KEYS[4], field) or '0')
  return deadline > now and deadline <= now + tonumber(ARGV[6])
end
if ahead('lease') or ahead('retry_at') then return 'replayed' end
redis.call('ZADD', KEYS[5], 'NX', now, session)
redis.call('ZADD', KEYS[6], now + tonumber(ARGV[5]), session)
return 'replayed'
