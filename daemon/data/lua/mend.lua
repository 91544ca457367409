-- Mend one thing of a session that a look at its data found, unless it is right by now. Harmless when repeated or late.
--
-- KEYS  1 session (hash)  2 waiting (list)  3 in (stream)  4 ready (zset)  5 due (zset)  6 unsettled (zset)
--       7 asides (zset)  8 log (list)  9 reminders (hash)  10 upcoming (zset)
-- ARGV  1 action  2 session key  then of
--         due                   nothing: give it a deadline
--         idle                  nothing: take the deadline away, and it out of ready
--         gone, foreign, twice  3 stream id: it waits no more, or no more than once
--         stray                 3 stream id: it waits, behind those that came before it; 'look': only tell
--         aside                 3 stream id: it is not answered aside
--         stop, lease           nothing: forget the stop, or who holds it
--         start                 3 start as it was  4 as it shall be
--         tokens                3 cursor  4 start  5 head, as they were  6 and 7 the sums
--         unsettled             nothing: have it looked at
--         number                3 field: a number that it can safely be
--         pad                   3 one past the last message of the log  4 head, as they were  5 an entry (JSON) for each lost one
--         upcoming              3 reminder id  4 when it fires (ms): it has no time
--         paused                3 reminder id: it has a time
-- Returns 'mended', or 'right' when there was nothing to do

local action, session, id = ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function before(one, other)
  local ms, seq = string.match(one, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  if not ms or not other_ms then return true end
  ms, other_ms = tonumber(ms), tonumber(other_ms)
  return ms < other_ms or (ms == other_ms and tonumber(seq) < tonumber(other_seq))
end

local function count(wanted)
  local found = 0
  for _, each in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    if each == wanted then found = found + 1 end
  end
  return found
end

local function entry_of(wanted)
  if not string.match(wanted, '^%d+%-%d+$') then return nil end
  return redis.call('XRANGE', KEYS[3], wanted, wanted)[1]
end

local function deadline()
  return redis.call('ZADD', KEYS[5], 'NX', now, session) == 1
end

-- It can be answered again: at once, if something is pending.
local function awake()
  redis.call('HDEL', KEYS[1], 'retry_at')
  if redis.call('LLEN', KEYS[2]) > 0 then redis.call('ZADD', KEYS[5], now, session) end
end

local function number(field)
  return tonumber(string.match(redis.call('HGET', KEYS[1], field) or '0', '^%d+$') or '')
end

local done = false
if action == 'due' then
  done = redis.call('LLEN', KEYS[2]) > 0 and deadline()
elseif action == 'idle' then
  if redis.call('LLEN', KEYS[2]) == 0 then
    done = redis.call('ZREM', KEYS[5], session) + redis.call('ZREM', KEYS[4], session) > 0
    if redis.call('EXISTS', KEYS[1]) == 0 then done = redis.call('ZREM', KEYS[6], session) > 0 or done end
  end
elseif action == 'gone' then
  done = not entry_of(id) and redis.call('LREM', KEYS[2], 0, id) > 0
elseif action == 'foreign' then
  local entry = entry_of(id)
  done = entry and entry[2][2] ~= session and redis.call('LREM', KEYS[2], 0, id) > 0
elseif action == 'twice' then
  local times = count(id)
  done = times > 1 and redis.call('LREM', KEYS[2], 1 - times, id) > 0
elseif action == 'stray' then
  local entry = entry_of(id)
  if entry and entry[2][2] == session and count(id) == 0 and not redis.call('ZSCORE', KEYS[7], session .. ' ' .. id) then
    done = true
    if ARGV[4] ~= 'look' then
      local behind
      for _, each in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
        if not behind and before(id, each) then behind = each end
      end
      if behind then
        redis.call('LINSERT', KEYS[2], 'BEFORE', behind, id)
      else
        redis.call('RPUSH', KEYS[2], id)
      end
      deadline()
    end
  end
elseif action == 'aside' then
  done = not entry_of(id) and redis.call('ZREM', KEYS[7], session .. ' ' .. id) > 0
elseif action == 'stop' then
  local stop = redis.call('HGET', KEYS[1], 'stop_upto')
  done = stop and count(stop) == 0 and redis.call('HDEL', KEYS[1], 'stop_upto') > 0
elseif action == 'lease' then
  done = not tonumber(redis.call('HGET', KEYS[1], 'lease') or '')
    and redis.call('HDEL', KEYS[1], 'nonce', 'lease', 'worker', 'since') > 0
elseif action == 'start' then
  local fields = redis.call('HMGET', KEYS[1], 'start', 'cursor', 'tokens')
  if (fields[1] or '0') == ARGV[3] and fields[2] == ARGV[4] then
    redis.call('HSET', KEYS[1], 'start', ARGV[4], 'tokens_start', fields[3] or 0)
    done = true
  end
elseif action == 'tokens' then
  local fields = redis.call('HMGET', KEYS[1], 'cursor', 'start', 'head')
  if (fields[1] or '0') == ARGV[3] and (fields[2] or '0') == ARGV[4] and (fields[3] or '0') == ARGV[5] then
    redis.call('HSET', KEYS[1], 'tokens', ARGV[6], 'tokens_start', ARGV[7])
    done = true
  end
elseif action == 'unsettled' then
  done = redis.call('EXISTS', KEYS[1]) == 1 and redis.call('ZADD', KEYS[6], 'NX', now, session) == 1
elseif action == 'number' then
  local base, cursor = number('base'), number('cursor')
  -- Fences and claims rise for ever: the time is above every number that was counted.
  local values = {attempts = 0, deaths = 0, tokens = 0, tokens_start = 0, fence = now, claims = now, start = cursor,
    head = base and base + redis.call('LLEN', KEYS[8])}
  if not number(ARGV[3]) and values[ARGV[3]] then
    redis.call('HSET', KEYS[1], ARGV[3], string.format('%.0f', values[ARGV[3]]))
    awake()
    done = true
  end
elseif action == 'upcoming' then
  done = redis.call('HEXISTS', KEYS[9], id) == 1 and redis.call('ZADD', KEYS[10], 'NX', ARGV[4], session .. ' ' .. id) == 1
elseif action == 'paused' then
  local raw = redis.call('HGET', KEYS[9], id)
  done = raw and string.find(raw, '"paused":true', 1, true) and redis.call('ZREM', KEYS[10], session .. ' ' .. id) > 0
elseif action == 'pad' then
  local first, head = tonumber(ARGV[3]), tonumber(ARGV[4])
  if number('head') == head and number('base') and number('base') + redis.call('LLEN', KEYS[8]) == first then
    for _ = first, head - 1 do redis.call('RPUSH', KEYS[8], ARGV[5]) end
    awake()
    done = first < head
  end
end
return done and 'mended' or 'right'
