-- Close a link request after its job was created. Harmless when repeated.
--
-- KEYS  1 pair (hash)  2 linking (hash) of one side  3 linking (hash) of the other side
-- ARGV  1 the code  2 session and ID of the message with the last answer
-- Returns 'done'

if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSETNX', KEYS[1], 'begun', ARGV[2]) end
if redis.call('HGET', KEYS[2], 'code') == ARGV[1] then redis.call('HDEL', KEYS[2], 'open') end
if redis.call('HGET', KEYS[3], 'code') == ARGV[1] then redis.call('HDEL', KEYS[3], 'open') end
return 'done'
