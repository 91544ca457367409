-- Note that a model's server failed, for all processes.
--
-- KEYS  1 failing (hash)
-- ARGV  1 kind ('outage' or 'setup')  2 reason  3 for how long nobody asks it (ms)  4 TTL (ms)
-- Returns for how long it has failed in this way (ms)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kind, since = unpack(redis.call('HMGET', KEYS[1], 'kind', 'since'))
if kind ~= ARGV[1] or not since then since = now end
redis.call('HSET', KEYS[1], 'kind', ARGV[1], 'reason', ARGV[2], 'since', since, 'at', now, 'next', now + ARGV[3])
redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return now - since
