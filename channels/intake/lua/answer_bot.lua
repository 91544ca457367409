-- Whether another bot is answered once more. Harmless when repeated: a message that was answered is so again.
--
-- KEYS  1 bots (zset): messages of bots that were answered since a human last spoke
-- ARGV  1 id of the message  2 most of them  3 TTL (ms)
-- Returns 1 or 0

if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
