-- Take out a message that waits, because its sender has taken it back; a turn that answers it is stopped, if it is the
-- first or only message of the turn. Harmless when repeated or late: it names what it takes out. What seen knows of it
-- stays, so that the platform's saying it again brings nothing back.
--
-- KEYS  1 in (stream)  2 session (hash)  3 waiting (list)  4 log (list)  5 ready (zset)  6 due (zset)
-- ARGV  1 session key  2 stream id of the message that waits  3 most messages of a burst  4 nudge channel
-- Returns
--   withdrawn  it waits no more
--   stopped    the turn that answers it stops, as by a stop that stands where the message stands
--   late       as of amend.lua
--   gone       as of amend.lua

local at, why = place_of(ARGV[2], ARGV[3], KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if not at and why == 'late' and redis.call('LINDEX', KEYS[3], 0) == ARGV[2] then
  local stop_upto, lease = unpack(redis.call('HMGET', KEYS[2], 'stop_upto', 'lease'))
  -- A person's own stop stands behind it, and covers it.
  if stop_upto and stop_upto ~= ARGV[2] then return why end
  redis.call('HSET', KEYS[2], 'stop_upto', ARGV[2])
  redis.call('HDEL', KEYS[2], 'retry_at')
  redis.call('PUBLISH', ARGV[4], '{"type":"stop","session":"' .. ARGV[1] .. '","upto":"' .. ARGV[2] .. '"}')
  local now = redis.call('TIME')[1] * 1000
  if (tonumber(lease or 0) or 0) <= now then redis.call('ZADD', KEYS[5], 'NX', now, ARGV[1]) end
  return 'stopped'
end
if not at then return why end

redis.call('LREM', KEYS[3], 1, ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
-- What was tried was tried with it: whatever comes first now begins anew.
if at == 0 then
  redis.call('HSET', KEYS[2], 'attempts', 0)
  if redis.call('HDEL', KEYS[2], 'deaths') == 1 then
    -- The pause was for the message that is gone.
    redis.call('HDEL', KEYS[2], 'retry_at', 'parked_why')
    redis.call('ZADD', KEYS[5], 'NX', redis.call('TIME')[1] * 1000, ARGV[1])
  end
end
if redis.call('EXISTS', KEYS[3]) == 0 then
  -- Nobody holds the session, or it would be too late: as a claim leaves one in which nothing waits.
  redis.call('ZREM', KEYS[5], ARGV[1])
  redis.call('ZREM', KEYS[6], ARGV[1])
  redis.call('HDEL', KEYS[2], 'nonce', 'lease', 'worker', 'since', 'retry_at', 'parked_at', 'parked_why',
    'parked_told', 'stop_upto')
end
return 'withdrawn'
