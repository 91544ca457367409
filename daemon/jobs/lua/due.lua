-- Jobs that somebody should take now, the longest due first. Reads only.
--
-- KEYS  1 jobs (zset)
-- ARGV  1 longest deadline (ms)  2 at most so many
-- Returns their ids

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
-- Set before the server's clock went back.
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now + ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])) do
  found[#found + 1] = id
end
return found
