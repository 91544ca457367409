-- The job of a link request that both sides have confirmed is there: the request is over. Harmless when repeated.
--
-- KEYS  1 pair (hash)  2 linking (hash) of one side  3 linking (hash) of the other side
-- ARGV  1 the code  2 who answered last: session and id of the message
-- Returns 'done'

if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSETNX', KEYS[1], 'begun', ARGV[2]) end
if redis.call('HGET', KEYS[2], 'code') == ARGV[1] then redis.call('HDEL', KEYS[2], 'open') end
if redis.call('HGET', KEYS[3], 'code') == ARGV[1] then redis.call('HDEL', KEYS[3], 'open') end
return 'done'
