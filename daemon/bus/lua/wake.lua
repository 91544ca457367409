-- Put a session back among the ready ones: a wake-up that was taken and not used.
--
-- KEYS  1 ready (zset)  2 due (zset)
-- ARGV  1 session key
-- Returns 1, or 0 when nothing waits in the session

if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], 'NX', time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
return 1
