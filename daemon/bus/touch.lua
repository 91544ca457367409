-- Note the last activity of sessions in the index of sessions.
--
-- KEYS  1 sessions (zset)
-- ARGV  session keys
-- Returns the time noted (ms)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, session in ipairs(ARGV) do redis.call('ZADD', KEYS[1], 'GT', now, session) end
return now
