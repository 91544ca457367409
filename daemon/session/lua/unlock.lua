-- Give a consolidation lock back, and say when the session is to be looked at again.
--
-- KEYS  1 session (hash)  2 lock (hash)  3 unsettled (zset)  4 grew (stream)
-- ARGV  1 session key  2 nonce  3 the head that was looked at  4 delay until it is looked at again (ms), or -1: there is
--       nothing more to do  5 most grew events kept
-- Returns 'done' (also when it arrives twice) or 'stale'

if redis.call('HGET', KEYS[2], 'nonce') ~= ARGV[2] then
  return redis.call('HGET', KEYS[2], 'released') == ARGV[2] and 'done' or 'stale'
end
redis.call('HDEL', KEYS[2], 'nonce', 'lease', 'worker', 'since')
redis.call('HSET', KEYS[2], 'released', ARGV[2])
local delay = tonumber(ARGV[4])
local fields = redis.call('HMGET', KEYS[1], 'head', 'start', 'cursor', 'unflushed')
local head = fields[1] or '0'
-- A new conversation that began meanwhile, and what a turn had no time to flush.
local is_owed = tonumber(fields[2] or 0) > tonumber(fields[3] or 0) or (fields[4] or '') ~= ''
-- What came meanwhile has signalled to nobody: everybody saw the lock.
if delay < 0 and head == ARGV[3] and not is_owed then
  redis.call('ZREM', KEYS[3], ARGV[1])
  return 'done'
end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[3], time[1] * 1000 + math.floor(time[2] / 1000) + math.max(0, delay), ARGV[1])
if delay <= 0 then
  redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[5], '*', 'event',
    '{"type":"session-grew","session":"' .. ARGV[1] .. '","head":' .. head .. '}')
end
return 'done'
