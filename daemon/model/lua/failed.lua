-- Count a failure of a model.
--
-- KEYS  1 errors (hash): those of this minute
-- ARGV  1 kind of the failure  2 the field that holds the newest kind  3 TTL (s)
-- Returns how many of the kind there were in this minute

local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('HSET', KEYS[1], ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return count
