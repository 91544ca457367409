-- Let a session begin behind its oldest messages, which are about to be deleted from the archive: nobody is to look there
-- for them any more. Harmless when repeated or late: the beginning only moves forward.
--
-- KEYS  1 session (hash)
-- ARGV  1 index of the first message that is kept
-- Returns where the session begins now: never behind what left Redis, nor what memory has not taken in

local fields = redis.call('HMGET', KEYS[1], 'begins', 'base', 'cursor', 'unflushed')
local begins = tonumber(fields[1] or 0)
local upto = math.min(tonumber(ARGV[1]), tonumber(fields[2] or 0), tonumber(fields[3] or 0))
local unflushed = string.match(fields[4] or '', '^(%d+) ')
if unflushed then upto = math.min(upto, tonumber(unflushed)) end
if upto <= begins then return begins end
redis.call('HSET', KEYS[1], 'begins', upto)
return upto
