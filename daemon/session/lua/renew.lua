-- Extend a lease that is still ours, also when it ran out and nobody took the session.
--
-- KEYS  1 session (hash)  2 due (zset)
-- ARGV  1 session key  2 nonce  3 lease (ms)
-- Returns {'held', stop_upto or ''} or {'lost', ''}

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[2] then return {'lost', ''} end
local time = redis.call('TIME')
local deadline = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3])
redis.call('HSET', KEYS[1], 'lease', deadline)
redis.call('ZADD', KEYS[2], deadline, ARGV[1])
return {'held', redis.call('HGET', KEYS[1], 'stop_upto') or ''}
