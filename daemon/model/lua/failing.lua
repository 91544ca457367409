-- Note that a model's server failed, for all processes.
--
-- KEYS  1 failing (hash)
-- ARGV  1 kind ('outage', 'setup' or 'refused')  2 reason  3 for how long nobody asks it (ms)  4 TTL (ms)
--       5 how often administrators are told of each kind but an outage (ms)
--       6 after how long without a failure the next one begins anew (ms)
-- Returns {for how long it has failed in this way (ms), are they to be told now (1/0)}

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local told_at = 'told_' .. ARGV[1]
local kind, since, at, told = unpack(redis.call('HMGET', KEYS[1], 'kind', 'since', 'at', told_at))
if kind ~= ARGV[1] or not since or now - at > tonumber(ARGV[6]) then since = now end
redis.call('HSET', KEYS[1], 'kind', ARGV[1], 'reason', ARGV[2], 'since', since, 'at', now, 'next', now + ARGV[3])
redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local tell = ARGV[1] ~= 'outage' and (not told or now - told >= tonumber(ARGV[5]))
if tell then redis.call('HSET', KEYS[1], told_at, now) end
return {now - since, tell and 1 or 0}
