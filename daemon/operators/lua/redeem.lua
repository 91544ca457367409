-- Use a code up, and know the visitor who had it. Harmless when repeated: the second time the visitor is known already.
--
-- KEYS  1 login (string): the code's channel, and a line with the name of its person  2 visitor (string)
-- ARGV  1 channel instance that is logged in to  2 TTL of the visitor (ms)
-- Returns 1, or 0 when the code is unknown, used up, over, or another channel's

local whose = redis.call('GETDEL', KEYS[1])
if not whose then return redis.call('EXISTS', KEYS[2]) end
if string.match(whose, '^[^\n]*') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], whose, 'PX', ARGV[2])
return 1
