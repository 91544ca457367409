-- A job has ended. What it needed and what it was at is gone; what it did is kept for a while.
--
-- KEYS  1 job (hash)  2 jobs (zset)  3 ended (zset)
-- ARGV  1 id  2 nonce  3 'done' or 'failed'  4 report (JSON)  5 time (ISO 8601)  6 how long it is kept (ms)
-- Returns 'done' (also when it arrives twice), or 'lost'

local fields = redis.call('HMGET', KEYS[1], 'nonce', 'released')
if fields[1] ~= ARGV[2] then return fields[2] == ARGV[2] and 'done' or 'lost' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HDEL', KEYS[1], 'nonce', 'worker', 'secret', 'state', 'reason', 'partly')
redis.call('HSET', KEYS[1], 'status', ARGV[3], 'report', ARGV[4], 'ended', ARGV[5], 'released', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. now - ARGV[6])
redis.call('PEXPIRE', KEYS[3], ARGV[6])
return 'done'
