-- The session's cursor stands where its memory ends: of the range's mark only that is kept which a failover may ask for.
-- Harmless when repeated or late: it names position and set-backs.
--
-- KEYS  1 memory (hash)
-- ARGV  1 session  2 fence  3 nonce  4 set-backs when it was opened  5 position  6 the mark, as it shall be
-- Returns 'done' (also when this very call had arrived before), 'moved' (the memory is at another position) or 'lost'
--   (somebody else has the session's lock)

local fields = fields_of(KEYS[1], ARGV[1])
if behind(fields, ARGV[2], ARGV[3]) then return 'lost' end
if fields.set_backs ~= tonumber(ARGV[4]) or fields.upto ~= tonumber(ARGV[5]) then return 'moved' end
-- Only to make it shorter: without one the memory was set back, to this very position.
if #fields.mark > #ARGV[6] then redis.call('HSET', KEYS[1], 'mark:' .. ARGV[1], ARGV[6]) end
return 'done'
