-- Let a session's prompts show a newer version of MEMORY.md as their own. Harmless when repeated or late: a pin only
-- moves forward, and to a version that there is. No lock is needed, since nothing is lost by it: prompts show what a
-- later version adds in another place.
--
-- KEYS  1 memory (hash)
-- ARGV  1 session  2 version
-- Returns 'done', also when that version or a later one was pinned before, or 'moved' (there is no such version)

local version, pinned = unpack(redis.call('HMGET', KEYS[1], 'version', 'pinned:' .. ARGV[1]))
if tonumber(version or 0) < tonumber(ARGV[2]) then return 'moved' end
if tonumber(pinned or 0) < tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], 'pinned:' .. ARGV[1], ARGV[2]) end
return 'done'
