-- Put a job down, once per id. Harmless when repeated or late: a job that has ended is remembered longer than a command
-- can be on its way.
--
-- KEYS  1 job (hash)  2 jobs (zset)
-- ARGV  1 id  2 kind  3 spec (JSON)  4 secret (JSON), what the job needs and nobody is to read when it has ended, or ''
--       5 whom it tells (JSON), or ''  6 time (ISO 8601)  7 delay (ms)
-- Returns 'made', or 'there' when it was made before

if redis.call('EXISTS', KEYS[1]) == 1 then return 'there' end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'kind', ARGV[2], 'status', 'waiting', 'created', ARGV[6], 'spec', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'secret', ARGV[4]) end
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'tell', ARGV[5]) end
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[7], ARGV[1])
return 'made'
