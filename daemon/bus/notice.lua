-- Say something aside to whoever watches a session.
--
-- KEYS  1 notices (stream)
-- ARGV  1 the notice (JSON)  2 TTL (ms)  3 events channel
-- Returns the notice's stream id; arriving twice it is said once

local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and last[2][2] == ARGV[1] then return last[1] end
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', 100, '*', 'notice', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return id
