-- Give a job back: handed over at a stop, or to be tried again later.
--
-- KEYS  1 job (hash)  2 jobs (zset)
-- ARGV  1 id  2 nonce  3 delay (ms)  4 why, for people, or '' to leave what is known  5 '1': the attempt does not count
--       6 '1': only the part that waits is left to do
-- Returns 'done' (also when it arrives twice), or 'lost'

local fields = redis.call('HMGET', KEYS[1], 'nonce', 'released', 'attempts')
if fields[1] ~= ARGV[2] then return fields[2] == ARGV[2] and 'done' or 'lost' end
local time = redis.call('TIME')
redis.call('HDEL', KEYS[1], 'nonce', 'worker')
redis.call('HSET', KEYS[1], 'status', 'waiting', 'released', ARGV[2])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'reason', ARGV[4]) end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'partly', 1) end
if ARGV[5] ~= '' and tonumber(fields[3] or 0) > 0 then redis.call('HINCRBY', KEYS[1], 'attempts', -1) end
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3], ARGV[1])
return 'done'
