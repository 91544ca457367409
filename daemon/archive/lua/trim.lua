-- Let messages that are archived leave Redis. Harmless when repeated or late: the base only moves forward, never beyond
-- what was archived when the caller looked, nor over what is still needed here.
--
-- Needed: of a log what is not consolidated, or consolidated and not flushed; of a scope's history what is undigested and
-- all behind it; of its versions the current one, a rejected one that the next request carries, and all behind them.
--
-- KEYS  1 session or memory (hash)  2 log or other list  3 segments (list)  4 undigested (list) of a scope; of a session
--       the segments again
-- ARGV  1 the base, as it shall be  2 kind: log, history, versions or notes  3 SHA-1 of the segments as the caller read
--       them, with a line feed behind each  4 field of the base
-- Returns {status, base}
--   done   the base is this now; lower than was asked for when something is still needed
--   moved  other segments are listed than the caller has seen: a failover took some back, or somebody listed more

local fields = redis.call('HMGET', KEYS[1], ARGV[4], 'cursor', 'head', 'unflushed', 'version', 'rejected')
local base, upto, kind = tonumber(fields[1] or 0), tonumber(ARGV[1]), ARGV[2]
if upto <= base then return {'done', base} end
local seen = redis.call('LRANGE', KEYS[3], 0, -1)
seen[#seen + 1] = ''
if redis.sha1hex(table.concat(seen, '\n')) ~= ARGV[3] then return {'moved', base} end

if kind == 'log' then
  upto = math.min(upto, tonumber(fields[2] or 0), tonumber(fields[3] or 0))
  local unflushed = string.match(fields[4] or '', '^(%d+) ')
  if unflushed then upto = math.min(upto, tonumber(unflushed)) end
elseif kind == 'history' then
  for _, index in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do upto = math.min(upto, tonumber(index) or 0) end
elseif kind == 'versions' then
  upto = math.min(upto, tonumber(fields[5] or 0) - 1)
  if tonumber(fields[6] or 0) > 0 then upto = math.min(upto, fields[6] - 1) end
end
upto = math.min(upto, base + redis.call('LLEN', KEYS[2]))
if upto <= base then return {'done', base} end

redis.call('LTRIM', KEYS[2], upto - base, -1)
redis.call('HSET', KEYS[1], ARGV[4], upto)
return {'done', upto}
