-- Let a memory be through with a session up to a position without having taken anything in: what was said before it is
-- to be forgotten as a whole. The cursor follows as after every consolidation, if whoever does this dies here.
-- Harmless when repeated or late: the position only moves forward.
--
-- KEYS  1 memory (hash)
-- ARGV  1 session  2 fence  3 nonce  4 position  5 mark of the last message before it
-- Returns 'done', or 'lost': somebody else has the session's lock

local fields = fields_of(KEYS[1], ARGV[1])
if behind(fields, ARGV[2], ARGV[3]) then return 'lost' end
if fields.upto < tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[1], 'upto:' .. ARGV[1], ARGV[4], 'mark:' .. ARGV[1], ARGV[5],
    'fence:' .. ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
end
return 'done'
