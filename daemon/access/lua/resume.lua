-- Wake a session that was put off for no fault of its own, as while its bot rests. One that backs off after a failure
-- or a death, or is held, is left alone. Harmless when repeated or late: a wake-up is a hint.
--
-- KEYS  1 session (hash)  2 waiting (list)  3 ready (zset)  4 due (zset)
-- ARGV  1 session key  2 wake-up (ms)
-- Returns 1, or 0 when there was nothing to wake

local fields = redis.call('HMGET', KEYS[1], 'nonce', 'retry_at', 'attempts', 'parked_at', 'deaths')
if fields[1] or not fields[2] or tonumber(fields[3] or 0) > 0 or fields[4] or fields[5] then return 0 end
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HDEL', KEYS[1], 'retry_at')
redis.call('ZADD', KEYS[3], 'NX', now, ARGV[1])
redis.call('ZADD', KEYS[4], now + tonumber(ARGV[2]), ARGV[1])
return 1
