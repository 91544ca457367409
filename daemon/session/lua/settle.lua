-- Move a session's cursor over what its memory has taken in. Harmless when repeated or late: it names where it starts.
--
-- KEYS  1 session (hash)  2 lock (hash)  3 log (list)
-- ARGV  1 session key  2 nonce  3 cursor, as it was  4 cursor, as it shall be  5 tokens of the messages between
--       6 continuity (JSON), what the history begins with from now on, or ''
--       7 '1' when the messages between were not flushed  8 events channel  9 SHA-1 of the last of these messages
-- Returns 'done' (also when this very command had arrived before), 'stale' (somebody else holds the lock) or 'moved'
--   (the cursor is elsewhere, or the log holds another message there: a failover set it back, and it grew again)

local name = ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4]
local fields = redis.call('HMGET', KEYS[1], 'cursor', 'start', 'head', 'tokens', 'tokens_start', 'settled', 'unflushed',
  'base')
if fields[6] == name then return 'done' end
if redis.call('HGET', KEYS[2], 'nonce') ~= ARGV[2] then return 'stale' end
local from, to, sum = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local head = tonumber(fields[3] or 0)
if tonumber(fields[1] or 0) ~= from or to <= from or to > head then return 'moved' end
local last = redis.call('LINDEX', KEYS[3], to - 1 - tonumber(fields[8] or 0))
if not last or redis.sha1hex(last) ~= ARGV[9] then return 'moved' end

redis.call('HSET', KEYS[1], 'cursor', to, 'settled', name, 'failures', 0,
  'tokens', math.max(0, tonumber(fields[4] or 0) - sum))
redis.call('HDEL', KEYS[1], 'parts')
-- What lies before the start no model sees any more: its continuity is nobody's.
if to > tonumber(fields[2] or 0) then
  redis.call('HSET', KEYS[1], 'start', to, 'tokens_start', math.max(0, tonumber(fields[5] or 0) - sum),
    'continuity', ARGV[6])
end
if ARGV[7] ~= '' then
  local first = string.match(fields[7] or '', '^(%d+) ') or from
  redis.call('HSET', KEYS[1], 'unflushed', first .. ' ' .. to)
end
redis.call('PUBLISH', ARGV[8],
  '{"type":"moved","session":"' .. ARGV[1] .. '","head":' .. head .. ',"cursor":' .. to .. '}')
return 'done'
