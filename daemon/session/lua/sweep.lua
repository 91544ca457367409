-- Sessions of one partition that should be settled and whose time has come: their event was lost, their worker died, or
-- they rest after a failure. Each is put off, so that the next sweep does not find it again before somebody came.
--
-- KEYS  1 unsettled (zset)
-- ARGV  1 put off by (ms)  2 longest deadline (ms)  3 at most so many  4 those only whose time came so long ago (ms)
-- Returns the sessions

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[4], 'LIMIT', 0, ARGV[3])
-- Further off than any can be: set before the server's clock went back.
local lost = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now + ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])
for _, session in ipairs(lost) do found[#found + 1] = session end
for _, session in ipairs(found) do redis.call('ZADD', KEYS[1], now + ARGV[1], session) end
return found
