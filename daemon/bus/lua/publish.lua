-- Accept messages of one partition: each onto the stream and its session's waiting list, once per platform id.
--
-- KEYS  1 in (stream)  2 ready (zset)  3 due (zset)  4 asides (zset), then for each message
--       1 session (hash)  2 waiting (list)  3 seen (string)  4 overheard (zset)
-- ARGV  1 waiting_max   2 partition_max   3 seen TTL (ms)   4 wake-up (ms)   5 longest deadline (ms)
--       6 how many stops may wait beyond waiting_max        7 how many commands answered aside may wait in a session
--       8 nudge channel   9 channel for commands answered aside   10 packed, for each message
--         1 session key   2 message id   3 correlation id   4 debounce (ms)   5 scope
--         6 'stop', 'aside' for a command that is answered aside, or whatever waits for its turn
--         7 its order, when what was overheard before it goes with it, or ''
--       then each message (JSON)
-- Returns for each message {status, message id, is the session new (1/0)}
--   accepted   it is on the stream now, or was put there by this very call before its reply got lost
--   duplicate  an earlier call accepted the same platform id; the message id is that one's
--   full       the session holds waiting_max messages; 'new' is 1 when its sender has not been told since it was not full.
--              Of commands answered aside: as many as may wait do
--   busy       the partition holds partition_max messages
-- or 'alone' for one that failed among others

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local waiting_max, partition_max = tonumber(ARGV[1]), tonumber(ARGV[2])
local longest = now + ARGV[5]
-- As text, made once for all messages.
local since, wakeup = string.format('%.0f', now), string.format('%.0f', now + ARGV[4])
local woken, until_wakeup = {}, {}
local backlog = redis.call('XLEN', KEYS[1])

-- Held or backing off: the session already stands in due with that deadline, and whoever holds it will see the list.
local function ahead(value)
  local deadline = tonumber(value or 0) or 0
  return deadline > now and deadline <= longest
end

local function note_seen(seen_key, correlation, id)
  redis.call('SET', seen_key, #correlation .. ' ' .. correlation .. ' ' .. id, 'PX', ARGV[3])
end

local function is_overheard(member)
  local ok, said = pcall(cjson.decode, member)
  if not ok or type(said) ~= 'table' then return false end
  for _, field in ipairs({'id', 'sender_id', 'text', 'at'}) do
    if type(said[field]) ~= 'string' then return false end  -- a hand has spoilt it
  end
  if said.attachments ~= nil and type(said.attachments) ~= 'table' then return false end
  return said.sender_name == nil or type(said.sender_name) == 'string'
end

-- The message with what was said before it in its chat, which is no longer kept for a later one. The member '' stands
-- for what the bot was asked last: its score is the order of that, and only rises.
local function with_overheard(message, overheard_key, order)
  if order == '' or redis.call('EXISTS', overheard_key) == 0 then return message end
  local said = {}
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', overheard_key, '-inf', '(' .. order)) do
    if member ~= '' and is_overheard(member) then said[#said + 1] = member end
  end
  local asked = redis.call('ZSCORE', overheard_key, '')
  if not asked or tonumber(order) > tonumber(asked) then
    redis.call('ZADD', overheard_key, order, '')
    redis.call('ZREMRANGEBYSCORE', overheard_key, '-inf', '(' .. order)
  end
  -- Within a text the quotes would be escaped: it stands there once.
  local from, to = string.find(message, '"overheard":[]', 1, true)
  if not from or not said[1] then return message end
  return string.sub(message, 1, to - 1) .. table.concat(said, ',') .. string.sub(message, to)
end

-- Answered aside: it waits for no turn and wakes no session, so it stands on no waiting list and changes no deadline.
local function accept_aside(session, id, message, correlation, seen_key)
  -- '!' comes right after the space that ends a session's name, which itself holds neither.
  local asked = redis.call('ZLEXCOUNT', KEYS[4], '[' .. session .. ' ', '(' .. session .. '!')
  if asked >= tonumber(ARGV[7]) then return {'full', id, 0} end
  if backlog >= partition_max then return {'busy', id, 0} end
  local entry = redis.call('XADD', KEYS[1], '*', 'session', session, 'id', id, 'message', message)
  backlog = backlog + 1
  redis.call('ZADD', KEYS[4], 0, session .. ' ' .. entry)
  note_seen(seen_key, correlation, id)
  redis.call('PUBLISH', ARGV[9], session)
  return {'accepted', id, 0}
end

local asked = cmsgpack.unpack(ARGV[10])

local function accept(number)
  local session_key, waiting_key, seen_key, overheard_key = unpack(KEYS, 1 + 4 * number, 4 + 4 * number)
  local session, id, correlation, debounce, scope, command, order = unpack(asked, 7 * number - 6, 7 * number)
  local message = ARGV[10 + number]

  local seen = redis.call('GET', seen_key)
  if seen then
    -- "<length of the correlation> <correlation> <id>", for either may hold spaces. The same correlation is our own
    -- call, sent again because its reply was lost.
    local length, rest = string.match(seen, '^(%d+) (.*)$')
    local first = string.sub(rest, length + 2)
    if string.sub(rest, 1, length) == correlation then return {'accepted', first, 0} end
    return {'duplicate', first, 0}
  end
  if command == 'aside' then return accept_aside(session, id, message, correlation, seen_key) end

  local allowed = waiting_max
  if command == 'stop' then allowed = allowed + tonumber(ARGV[6]) end
  if redis.call('LLEN', waiting_key) >= allowed then
    return {'full', id, redis.call('HSETNX', session_key, 'told_full', '1')}
  end
  if backlog >= partition_max then return {'busy', id, 0} end

  local head, lease, retry_at, kept_debounce, told_full, parked_told =
    unpack(redis.call('HMGET', session_key, 'head', 'lease', 'retry_at', 'debounce', 'told_full', 'parked_told'))
  -- All other fields count as 0 while they are not there.
  if not head then redis.call('HSET', session_key, 'head', '0', 'scope', scope) end
  if head and told_full then redis.call('HDEL', session_key, 'told_full') end
  message = with_overheard(message, overheard_key, order)
  local entry = redis.call('XADD', KEYS[1], '*', 'session', session, 'id', id, 'message', message)
  backlog = backlog + 1
  redis.call('RPUSH', waiting_key, entry)
  note_seen(seen_key, correlation, id)

  if command == 'stop' then
    redis.call('HSET', session_key, 'stop_upto', entry)
    redis.call('HDEL', session_key, 'retry_at')
    retry_at = false
    redis.call('PUBLISH', ARGV[8], '{"type":"stop","session":"' .. session .. '","upto":"' .. entry .. '"}')
  end

  -- Kept for the claim, which knows no channels: a turn answers all that came within the window of its first message.
  if debounce > 0 then
    redis.call('HSET', session_key, 'debounce', debounce)
  elseif kept_debounce then
    redis.call('HDEL', session_key, 'debounce')
  end

  if not ahead(lease) and not ahead(retry_at) then
    if debounce > 0 and command ~= 'stop' then
      redis.call('ZADD', KEYS[3], 'NX', now + debounce, session)
    else
      woken[#woken + 1], until_wakeup[#until_wakeup + 1] = since, wakeup
      woken[#woken + 1], until_wakeup[#until_wakeup + 1] = session, session
    end
  elseif parked_told and not ahead(lease) then
    -- Its people know that it is parked: a worker looks at it, and tells them how many messages are pending now.
    redis.call('ZADD', KEYS[2], 'NX', since, session)
  end
  return {'accepted', id, head and 0 or 1}
end

local count, results = #asked / 7, {}
for number = 1, count do
  if count == 1 then
    results[1] = accept(1)
  else
    local ok, result = pcall(accept, number)
    results[number] = ok and result or 'alone'
  end
end
if woken[1] then
  redis.call('ZADD', KEYS[2], 'NX', unpack(woken))
  redis.call('ZADD', KEYS[3], unpack(until_wakeup))
end
return results
