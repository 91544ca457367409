-- The bot was asked: what was said before is no longer kept for it. Harmless when repeated or late: the place that it
-- names only rises.
--
-- KEYS  1 overheard (zset)
-- ARGV  1 order of what was asked  2 TTL (ms)
-- Returns how many went

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local asked = redis.call('ZSCORE', KEYS[1], '')
if asked and tonumber(ARGV[1]) <= tonumber(asked) then return 0 end
local gone = redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[1], '')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return gone - (asked and 1 or 0)
