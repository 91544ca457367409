-- Look a visitor up, and know it for longer once half of its time is over. Harmless when repeated.
--
-- KEYS  1 visitor (string)
-- ARGV  1 TTL (ms)
-- Returns {channel instance, and a line with the name of the person; 1 when it was renewed, else 0}; {'', 0} when
-- nobody is known by that name

local whose = redis.call('GET', KEYS[1])
if not whose then return {'', 0} end
if redis.call('PTTL', KEYS[1]) * 2 > tonumber(ARGV[1]) then return {whose, 0} end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {whose, 1}
