-- A session has lost its newest messages in a failover: mark the history entries that hold any of them as lost, and set
-- the position back to where the first of these began. Harmless when repeated or late: it names position and set-backs.
--
-- KEYS  1 memory (hash)  2 history (list)  3 versions (list)  4 undigested (list)
-- ARGV  1 session  2 fence  3 nonce  4 set-backs when it was opened  5 position when it was opened
--       6 one past the last message that the session still has
-- Returns {status, what state() gives, marked entries (JSON), newest first}
--   done       also when this very call had arrived before
--   misplaced  refused: the memory is at another position
-- or {'lost'}: somebody else has the session's lock

local session, head = ARGV[1], tonumber(ARGV[6])
local fields = fields_of(KEYS[1], session)
local function answer(status, indexes)
  local entries = {}
  for index in string.gmatch(indexes, '%d+') do
    entries[#entries + 1] = redis.call('LINDEX', KEYS[2], index)
  end
  return {status, state(KEYS[1], KEYS[3], KEYS[4], session), entries}
end

-- The session's entries, back to the one that the head does not cut, by index in the history, and where they begin.
local function cut_off()
  local indexes, first, last = {}, head, redis.call('LLEN', KEYS[2]) - 1
  while last >= 0 do
    local from = math.max(0, last - 63)
    local entries = redis.call('LRANGE', KEYS[2], from, last)
    for at = #entries, 1, -1 do
      -- Most are of other sessions: they are not worth decoding. Within a text the quotes would be escaped.
      local entry = string.find(entries[at], '"session":"' .. session .. '"', 1, true) and cjson.decode(entries[at])
      if entry and not entry.lost then
        if entry.upto <= head then return indexes, first end
        indexes[#indexes + 1] = from + at - 1
        first = math.min(first, entry.first)
      end
    end
    last = from - 1
  end
  return indexes, first
end

if behind(fields, ARGV[2], ARGV[3]) then return {'lost'} end
-- The lock is the one that set it back: it does one thing after the other, so it was this call.
if fields.set_backs == ARGV[4] + 1 then return answer('done', string.match(fields.set_back, '^%d+(.*)$')) end
if fields.set_backs ~= tonumber(ARGV[4]) or fields.upto ~= tonumber(ARGV[5]) then return answer('misplaced', '') end
if fields.upto <= head then return answer('done', '') end

local indexes, first = cut_off()
for _, index in ipairs(indexes) do
  local entry = redis.call('LINDEX', KEYS[2], index)
  redis.call('LSET', KEYS[2], index, string.sub(entry, 1, -2) .. ',"lost":true}')
  redis.call('LREM', KEYS[4], 0, index)
end
redis.call('HSET', KEYS[1], 'upto:' .. session, first, 'fence:' .. session, ARGV[2] .. ' ' .. ARGV[3],
  'set_back:' .. session, (fields.set_backs + 1) .. ' ' .. table.concat(indexes, ' '))
-- Cycles are named by the cursor, which will come by the same numbers again.
redis.call('HDEL', KEYS[1], 'mark:' .. session, 'flushed:' .. session)
return answer('done', table.concat(indexes, ' '))
