-- Put another value into a field of a hash, or take the field away, if it holds what was read. Harmless when repeated
-- or late: what was read is named by its checksum.
--
-- KEYS  1 hash
-- ARGV  1 field  2 SHA-1 of its value  3 the new value, or '' to remove it
-- Returns 'done' (also when this very command had arrived before) or 'moved' (it holds something else)

local stored = redis.call('HGET', KEYS[1], ARGV[1])
if (stored or '') == ARGV[3] then return 'done' end
if not stored or redis.sha1hex(stored) ~= ARGV[2] then return 'moved' end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 'done'
