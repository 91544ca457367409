-- Whether it is this caller who tells of a limit that is nearly used up: once a day for each limit.
--
-- KEYS  1 told (hash)
-- ARGV  1 the limit  2 name of the caller  3 TTL of told (ms)
-- Returns 1 for the first caller, the same again for that one, also by this very call; 0 for all others

redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] and 1 or 0
