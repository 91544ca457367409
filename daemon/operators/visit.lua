-- Look a visitor up, and know it for longer once half of its time is over. Harmless when repeated.
--
-- KEYS  1 visitor (string)
-- ARGV  1 TTL (ms)
-- Returns {channel instance, 1 when it was renewed, else 0}; {'', 0} when nobody is known by that name

local channel = redis.call('GET', KEYS[1])
if not channel then return {'', 0} end
if redis.call('PTTL', KEYS[1]) * 2 > tonumber(ARGV[1]) then return {channel, 0} end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {channel, 1}
