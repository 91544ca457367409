-- Note a session's last activity in the index of sessions.
--
-- KEYS  1 sessions (zset)
-- ARGV  1 session key
-- Returns the time noted (ms)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], 'GT', now, ARGV[1])
return now
