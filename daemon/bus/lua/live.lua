-- Show viewers the text that is being written; only by the holder of the session, and never counted on.
--
-- KEYS  1 session (hash)  2 live (string)
-- ARGV  1 nonce  2 TTL (ms)  3 the whole text so far (JSON)  4 events channel  5 the new piece (JSON)
-- Returns 1, or 0 when somebody else holds the session

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[2])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
