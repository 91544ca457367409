-- Give the lease back, so that another dispatcher goes on at once.
--
-- KEYS  1 leader (hash)
-- ARGV  1 nonce  2 channel on which dispatchers listen  3 what is said there
-- Returns 1, or 0 when it is not the caller's (any more)

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'nonce', 'deadline', 'worker')
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
