-- Read a piece of one of a scope's lists, by indexes that count what is in the archive too.
--
-- KEYS  1 memory (hash)  2 history, versions or notes (list)
-- ARGV  1 field of the list's base  2 index of the first, or '' for the newest  3 at most so many
-- Returns {base, one past the last index, indexes of archived entries that were lost (words), records from the first on,
--   or from the base on when it lies before that}

local base, lost = unpack(redis.call('HMGET', KEYS[1], ARGV[1], 'lost'))
base = tonumber(base or 0)
local upto, most = base + redis.call('LLEN', KEYS[2]), tonumber(ARGV[3])
local first = math.max(base, tonumber(ARGV[2]) or upto - most)
return {base, upto, lost or '', redis.call('LRANGE', KEYS[2], first - base, first - base + most - 1)}
