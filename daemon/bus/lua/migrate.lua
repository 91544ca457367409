-- Take, keep or give back the right to bring a database to a newer schema; one process at a time has it.
--
-- KEYS  1 meta (hash)
-- ARGV  1 nonce  2 how long it is held without a sign (ms)  3 the schema that is wanted  4 the one that was reached, or ''
--       5 the oldest schema whose versions can use it
-- Returns {'mine', schema} (go on from there), {'done', schema} (it has the wanted one, or a higher one; nobody holds it)
--   or {'wait', schema} (somebody else is at it)

local fields = redis.call('HMGET', KEYS[1], 'schema', 'migrating', 'migrating_until')
local schema, holder, ends = tonumber(fields[1] or 0), fields[2] or '', tonumber(fields[3] or 0)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Whoever slept longer than he held it writes nothing: another began where the schema stands.
if ARGV[4] ~= '' and holder == ARGV[1] and tonumber(ARGV[4]) > schema then
  schema = tonumber(ARGV[4])
  redis.call('HSET', KEYS[1], 'schema', schema, 'needs', ARGV[5])
end
if schema >= tonumber(ARGV[3]) then
  if holder == ARGV[1] then redis.call('HDEL', KEYS[1], 'migrating', 'migrating_until') end
  return {'done', schema}
end
-- Further off than anybody holds it: the server's clock was set back.
if holder ~= '' and holder ~= ARGV[1] and ends > now and ends <= now + ARGV[2] then return {'wait', schema} end
redis.call('HSET', KEYS[1], 'migrating', ARGV[1], 'migrating_until', now + ARGV[2])
return {'mine', schema}
