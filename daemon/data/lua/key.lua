-- Any key, as it stands at this moment. Writes nothing.
--
-- KEYS  1 the key
-- ARGV  none
-- Returns {type, when it ends (ms) or 0, value}: of a string itself, of a hash fields and values in turn, of a list its
--   items, of a sorted set members and scores in turn, of a stream its entries; {'none'} when there is none

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then return {'none'} end
local ttl, ends = redis.call('PTTL', KEYS[1]), 0
if ttl >= 0 then
  local time = redis.call('TIME')
  ends = time[1] * 1000 + math.floor(time[2] / 1000) + ttl
end
if kind == 'string' then return {kind, ends, redis.call('GET', KEYS[1])} end
if kind == 'hash' then return {kind, ends, redis.call('HGETALL', KEYS[1])} end
if kind == 'list' then return {kind, ends, redis.call('LRANGE', KEYS[1], 0, -1)} end
if kind == 'zset' then return {kind, ends, redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')} end
if kind == 'stream' then return {kind, ends, redis.call('XRANGE', KEYS[1], '-', '+')} end
return {kind, ends, false}
