-- All that is one session's and has no TTL, as it stands at this moment. Writes nothing.
--
-- A long log is read in pieces, of which all but the last are asked for before: nothing in it is changed but by
-- forgetting, and it grows at its end only.
--
-- A key of the partition with the wrong type is read as if it were empty, so that it does not cost other sessions; the
-- caller looks for such keys. A key of the session with the wrong type ends the script with an error.
--
-- KEYS  1 session (hash)  2 log (list)  3 waiting (list)  4 lock (hash)  5 segments (list)  6 in (stream)  7 ready (zset)
--       8 due (zset)  9 unsettled (zset)  10 asides (zset)  11 out (stream) of its channel  12 dead (stream)
--       13 reminders (hash)  14 upcoming (zset)
-- ARGV  1 session key  2 index of the first message that the caller does not have yet  3 most messages at once
-- Returns {'more', index of the first message that follows, messages}: ask again, behind these; or
--   {'whole', the same, messages, hash, waiting, entries of in, lock, segments, {score in ready, due, unsettled, or ''},
--    stream ids of its commands in asides, newest id in out or '', newest id in dead or '',
--    reminders, {id, score in upcoming, ...}}

local base = tonumber(redis.call('HGET', KEYS[1], 'base') or 0) or 0
local first, most = math.max(tonumber(ARGV[2]), base), tonumber(ARGV[3])
local log = redis.call('LRANGE', KEYS[2], first - base, first - base + most - 1)
if base + redis.call('LLEN', KEYS[2]) > first + #log then return {'more', first, log} end

local function is_typed(any_key, kind)
  return redis.call('TYPE', any_key).ok == kind
end
local session, entries, asides = ARGV[1], {}, {}
local function entry_of(id)
  local found = is_typed(KEYS[6], 'stream') and redis.call('XRANGE', KEYS[6], id, id)[1]
  if found then entries[#entries + 1] = found end
end
local waiting = redis.call('LRANGE', KEYS[3], 0, -1)
for _, id in ipairs(waiting) do
  if string.match(id, '^%d+%-%d+$') then entry_of(id) end
end
local members = is_typed(KEYS[10], 'zset') and
  redis.call('ZRANGEBYLEX', KEYS[10], '[' .. session .. ' ', '(' .. session .. '!') or {}
for _, member in ipairs(members) do
  local id = string.sub(member, #session + 2)
  asides[#asides + 1] = id
  if string.match(id, '^%d+%-%d+$') then entry_of(id) end
end

local function score(zset_key)
  return is_typed(zset_key, 'zset') and redis.call('ZSCORE', zset_key, session) or ''
end
local scores = {score(KEYS[7]), score(KEYS[8]), score(KEYS[9])}
local function newest(stream_key)
  return is_typed(stream_key, 'stream') and redis.call('XREVRANGE', stream_key, '+', '-', 'COUNT', 1)[1]
end
local reminders, upcoming = redis.call('HGETALL', KEYS[13]), {}
for at = 1, #reminders, 2 do
  local fires = is_typed(KEYS[14], 'zset') and redis.call('ZSCORE', KEYS[14], session .. ' ' .. reminders[at])
  if fires then
    upcoming[#upcoming + 1] = reminders[at]
    upcoming[#upcoming + 1] = fires
  end
end
local last_out, last_dead = newest(KEYS[11]), newest(KEYS[12])
return {'whole', first, log, redis.call('HGETALL', KEYS[1]), waiting, entries, redis.call('HGETALL', KEYS[4]),
  redis.call('LRANGE', KEYS[5], 0, -1), scores, asides, last_out and last_out[1] or '', last_dead and last_dead[1] or '',
  reminders, upcoming}
