-- Fire an occurrence of a reminder: in one step it becomes a message of its session, as in publish.lua, and the reminder
-- stands at its next occurrence, or is gone. So it fires once, whoever calls this, how often, and however late.
--
-- KEYS  1 reminders (hash)  2 upcoming (zset)  3 in (stream)  4 ready (zset)  5 due (zset)  6 session (hash)
--       7 waiting (list)
-- ARGV  1 its member of upcoming  2 its id  3 the reminder as it was (JSON)  4 as it is next (JSON), or '' after the last
--       5 when it is due next (ms), or ''  6 session key  7 message id  8 the message (JSON)  9 scope
--       10 waiting_max  11 partition_max  12 wake-up (ms)  13 longest deadline (ms)
-- Returns 'fired', 'gone' (it fired already, also by this very call, or was changed), 'early' (the server's clock has not
--   come so far), or 'full' (too many messages wait)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or '')
if not due or redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 'gone' end
if due > now then return 'early' end
local waiting = redis.call('LLEN', KEYS[7])
if waiting >= tonumber(ARGV[10]) or redis.call('XLEN', KEYS[3]) >= tonumber(ARGV[11]) then return 'full' end
local head, lease, retry_at = unpack(redis.call('HMGET', KEYS[6], 'head', 'lease', 'retry_at'))

-- Held or backing off: the session already stands in due with that deadline, and whoever holds it will see the list.
local function ahead(value)
  local deadline = tonumber(value or 0) or 0
  return deadline > now and deadline <= now + ARGV[13]
end

if ARGV[4] == '' then
  redis.call('HDEL', KEYS[1], ARGV[2])
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
  redis.call('ZADD', KEYS[2], ARGV[5], ARGV[1])
end
if not head then redis.call('HSET', KEYS[6], 'head', '0', 'scope', ARGV[9]) end
-- It waits for no other message of a burst.
if waiting == 0 then redis.call('HDEL', KEYS[6], 'debounce') end
redis.call('RPUSH', KEYS[7],
  redis.call('XADD', KEYS[3], '*', 'session', ARGV[6], 'id', ARGV[7], 'message', ARGV[8]))
if not ahead(lease) and not ahead(retry_at) then
  redis.call('ZADD', KEYS[4], 'NX', string.format('%.0f', now), ARGV[6])
  redis.call('ZADD', KEYS[5], string.format('%.0f', now + ARGV[12]), ARGV[6])
end
return 'fired'
