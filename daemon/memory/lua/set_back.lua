-- A session has lost its newest messages in a failover: mark the history entries that hold any of them as lost, and set
-- the position back to where the first of these began. Harmless when repeated or late: it names position and set-backs.
--
-- Entries in the archive cannot be looked at from here. When those in Redis do not tell how far back to go, whoever calls
-- looks through the archived ones and calls again. All that are lost are noted by index too, in the field 'lost': others
-- may be just about to be archived as they were.
--
-- KEYS  1 memory (hash)  2 history (list)  3 versions (list)  4 undigested (list)
-- ARGV  1 session  2 fence  3 nonce  4 set-backs when it was opened  5 position when it was opened
--       6 one past the last message that the session still has
--       7 how many of the entries are in the archive and were looked through, or ''
--       8 where the first of them that holds lost messages begins, or ''  9 the indexes of all such, newest first
-- Returns {status, what state() gives, marked entries that are here (JSON), newest first}
--   done       also when this very call had arrived before
--   misplaced  refused: the memory is at another position
-- or {'shelved', how many entries are in the archive and must be looked through}
-- or {'lost'}: somebody else has the session's lock
-- or {'joined', scope} or {'joining', ''}: see elsewhere()

local session, head = ARGV[1], tonumber(ARGV[6])
local fields = fields_of(KEYS[1], session)
local base = fields.history_base
local function answer(status, indexes)
  local entries = {}
  for index in string.gmatch(indexes, '%d+') do
    if tonumber(index) >= base then entries[#entries + 1] = redis.call('LINDEX', KEYS[2], index - base) end
  end
  return {status, state(KEYS[1], KEYS[3], KEYS[4], session), entries}
end

-- The session's entries here, back to the one that the head does not cut: their indexes, newest first, where they begin,
-- and whether there may be more of them in the archive.
local function cut_off()
  local indexes, first, last = {}, head, redis.call('LLEN', KEYS[2]) - 1
  while last >= 0 do
    local from = math.max(0, last - 63)
    local entries = redis.call('LRANGE', KEYS[2], from, last)
    for at = #entries, 1, -1 do
      -- Most are of other sessions: they are not worth decoding. Within a text the quotes would be escaped.
      local entry = string.find(entries[at], '"session":"' .. session .. '"', 1, true) and cjson.decode(entries[at])
      if entry and not entry.lost then
        if entry.upto <= head then return indexes, first, false end
        indexes[#indexes + 1] = base + from + at - 1
        first = math.min(first, entry.first)
      end
    end
    last = from - 1
  end
  return indexes, first, base > 0
end

local away = elsewhere(KEYS[1])
if away then return away end
if behind(fields, ARGV[2], ARGV[3]) then return {'lost'} end
-- The lock is the one that set it back: it does one thing after the other, so it was this call.
if fields.set_backs == ARGV[4] + 1 then return answer('done', string.match(fields.set_back, '^%d+(.*)$')) end
if fields.set_backs ~= tonumber(ARGV[4]) or fields.upto ~= tonumber(ARGV[5]) then return answer('misplaced', '') end
if fields.upto <= head then return answer('done', '') end
local indexes, first, more = cut_off()
if more and ARGV[7] ~= tostring(base) then return {'shelved', base} end

for _, index in ipairs(indexes) do
  local entry = redis.call('LINDEX', KEYS[2], index - base)
  redis.call('LSET', KEYS[2], index - base, string.sub(entry, 1, -2) .. ',"lost":true}')
  redis.call('LREM', KEYS[4], 0, index)
end
if more and ARGV[9] ~= '' then
  first = math.min(first, tonumber(ARGV[8]))
  indexes[#indexes + 1] = ARGV[9]
end
local marked, lost = table.concat(indexes, ' '), redis.call('HGET', KEYS[1], 'lost')
if marked ~= '' then redis.call('HSET', KEYS[1], 'lost', lost and lost .. ' ' .. marked or marked) end
redis.call('HSET', KEYS[1], 'upto:' .. session, first, 'fence:' .. session, ARGV[2] .. ' ' .. ARGV[3],
  'set_back:' .. session, (fields.set_backs + 1) .. ' ' .. marked)
-- Cycles are named by the cursor, which will come by the same numbers again.
redis.call('HDEL', KEYS[1], 'mark:' .. session, 'flushed:' .. session)
return answer('done', marked)
