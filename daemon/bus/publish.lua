-- Accept one message: onto the partition's stream and its session's waiting list, once per platform id.
--
-- KEYS  1 in (stream)  2 waiting (list)  3 session (hash)  4 seen (string)  5 ready (zset)  6 due (zset)
--       7 asides (zset)
-- ARGV  1 session key      2 message id      3 message (JSON)   4 correlation id   5 waiting_max   6 partition_max
--       7 seen TTL (ms)    8 debounce (ms)   9 wake-up (ms)    10 scope
--      11 'stop', 'aside' for a command that is answered aside, or whatever waits for its turn
--      12 nudge channel   13 longest deadline (ms)              14 how many stops may wait beyond waiting_max
--      15 channel for commands answered aside        16 how many of those may wait in a session
-- Returns {status, message id, is the session new (1/0)}
--   accepted   it is on the stream now, or was put there by this very call before its reply got lost
--   duplicate  an earlier call accepted the same platform id; the message id is that one's
--   full       the session holds waiting_max messages; 'new' is 1 when its sender has not been told since it was not full.
--              Of commands answered aside: as many as may wait do
--   busy       the partition holds partition_max messages

local session, id, correlation, command = ARGV[1], ARGV[2], ARGV[4], ARGV[11]

local seen = redis.call('GET', KEYS[4])
if seen then
  -- "<length of the correlation> <correlation> <id>", for either may hold spaces. The same correlation is our own
  -- call, sent again because its reply was lost.
  local length, rest = string.match(seen, '^(%d+) (.*)$')
  local first = string.sub(rest, length + 2)
  if string.sub(rest, 1, length) == correlation then return {'accepted', first, 0} end
  return {'duplicate', first, 0}
end

-- Answered aside: it waits for no turn and wakes no session, so it stands on no waiting list and changes no deadline.
if command == 'aside' then
  -- '!' comes right after the space that ends a session's name, which itself holds neither.
  local asked = redis.call('ZLEXCOUNT', KEYS[7], '[' .. session .. ' ', '(' .. session .. '!')
  if asked >= tonumber(ARGV[16]) then return {'full', id, 0} end
  if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[6]) then return {'busy', id, 0} end
  local entry = redis.call('XADD', KEYS[1], '*', 'session', session, 'id', id, 'message', ARGV[3])
  redis.call('ZADD', KEYS[7], 0, session .. ' ' .. entry)
  redis.call('SET', KEYS[4], #correlation .. ' ' .. correlation .. ' ' .. id, 'PX', ARGV[7])
  redis.call('PUBLISH', ARGV[15], session)
  return {'accepted', id, 0}
end

local waiting = redis.call('LLEN', KEYS[2])
local allowed = tonumber(ARGV[5])
if command == 'stop' then allowed = allowed + tonumber(ARGV[14]) end
if waiting >= allowed then
  return {'full', id, redis.call('HSETNX', KEYS[3], 'told_full', '1')}
end
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[6]) then return {'busy', id, 0} end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local head, lease, retry_at, kept_debounce, told_full =
  unpack(redis.call('HMGET', KEYS[3], 'head', 'lease', 'retry_at', 'debounce', 'told_full'))
local new = head and 0 or 1
if new == 1 then
  redis.call('HSET', KEYS[3], 'base', 0, 'cursor', 0, 'start', 0, 'head', 0, 'tokens', 0, 'tokens_start', 0,
    'fence', 0, 'claims', 0, 'attempts', 0, 'scope', ARGV[10])
elseif told_full then
  redis.call('HDEL', KEYS[3], 'told_full')
end
local entry = redis.call('XADD', KEYS[1], '*', 'session', session, 'id', id, 'message', ARGV[3])
redis.call('RPUSH', KEYS[2], entry)
redis.call('SET', KEYS[4], #correlation .. ' ' .. correlation .. ' ' .. id, 'PX', ARGV[7])

if command == 'stop' then
  redis.call('HSET', KEYS[3], 'stop_upto', entry)
  redis.call('HDEL', KEYS[3], 'retry_at')
  retry_at = false
  redis.call('PUBLISH', ARGV[12], '{"type":"stop","session":"' .. session .. '","upto":"' .. entry .. '"}')
end

-- Kept for the claim, which knows no channels: a turn answers all that came within the window of its first message.
local debounce = tonumber(ARGV[8])
if debounce > 0 then
  redis.call('HSET', KEYS[3], 'debounce', debounce)
elseif kept_debounce then
  redis.call('HDEL', KEYS[3], 'debounce')
end

-- Held or backing off: the session already stands in due with that deadline, and whoever holds it will see the list.
local function ahead(value)
  local deadline = tonumber(value or '0')
  return deadline > now and deadline <= now + tonumber(ARGV[13])
end
if ahead(lease) or ahead(retry_at) then return {'accepted', id, new} end

if debounce > 0 and command ~= 'stop' then
  redis.call('ZADD', KEYS[6], 'NX', now + debounce, session)
else
  redis.call('ZADD', KEYS[5], 'NX', now, session)
  redis.call('ZADD', KEYS[6], now + tonumber(ARGV[9]), session)
end
return {'accepted', id, new}
