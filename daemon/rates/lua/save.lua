-- Save what a process did in a minute. The value is the whole number of that minute, so saving it again changes nothing.
--
-- KEYS  1 rates (hash): those of an hour
-- ARGV  1 minute and process  2 numbers by measure (JSON)  3 TTL (ms)
-- Returns 1 if the minute was not saved before, else 0

local added = redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
-- Once: each time would be one more line in the append-only file.
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return added
