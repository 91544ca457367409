-- Put an entry of a shelf's list in the place of others: a catalogue in that of the segments it holds now, a segment in
-- that of the same range with other content. The file is durable. Harmless when repeated or late: what is to be
-- replaced is named.
--
-- KEYS  1 segments (list)  2 clearing (string)
-- ARGV  1 the new entry (JSON), or '' for none  2... the entries it takes the place of, the first one's place is its own;
--       none: it stands before all others
-- Returns 'done' (also when this very command had arrived before) or 'stale' (they do not all stand there; nothing was
--   written) or 'busy' (files that nothing lists are being deleted)

local place = {}
for at, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do place[entry] = at end
local missing = 0
for at = 2, #ARGV do
  if not place[ARGV[at]] then missing = missing + 1 end
end
if (ARGV[1] == '' or place[ARGV[1]]) and missing == #ARGV - 1 then return 'done' end
if missing > 0 then return 'stale' end
if redis.call('EXISTS', KEYS[2]) == 1 then return 'busy' end

if ARGV[1] ~= '' then
  if ARGV[2] then redis.call('LSET', KEYS[1], place[ARGV[2]] - 1, ARGV[1]) else redis.call('LPUSH', KEYS[1], ARGV[1]) end
end
for at = ARGV[1] ~= '' and 3 or 2, #ARGV do redis.call('LREM', KEYS[1], 0, ARGV[at]) end
return 'done'
