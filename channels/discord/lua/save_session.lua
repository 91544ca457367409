-- Save the session at the gateway, unless another process leads now.
--
-- KEYS  1 poller (hash)
-- ARGV  1 nonce of the lease  2 the session (JSON)  3 the field
-- Returns 1, or 0 when the lease is not the caller's (any more)

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[2])
return 1
