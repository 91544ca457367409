-- Commit turns of one partition, each of a session of its own: its last entries, head over everything, the reply,
-- session-grew, and what it answered is no longer waiting; then go on with the session's next message or let it go.
-- Harmless when repeated or late: a commit names its turn.
-- A command that changes the session is a turn without entries: what it changes, and what is said of it, come with it.
--
-- KEYS  1 in (stream)  2 ready (zset)  3 due (zset)  4 grew (stream)  5 dead (stream)  6 unsettled (zset), then for
--       each turn
--       1 session (hash)  2 log (list)  3 waiting (list)  4 live (string)  5 out (stream)  6 notices (stream)
--       7 traces (list)
-- ARGV  1 lease (ms)  2 wake-up (ms)  3 most grew events kept  4 TTL of notices (ms)  5 events channel of a session,
--       without its key  6 most of a session's traces kept  7 their TTL (ms)  8 packed, for each turn
--         1 session key   2 nonce   3 claim number   4 turn   5 step   6 tokens of all its entries   7 reply (JSON or '')
--         8 go on: how many messages to take next, 0 to let go   9 what few do, or '': {dead_reason = ...,
--         start_over = true, options = JSON, notices = {JSON, ...}}, each of which may be missing
--        10 tokens that stand in every prompt of the session, or ''   11 tokens from the start on from which on it
--         should be settled, or ''   12 its trace (JSON), to which the time is added, or ''   13 how many stream ids
--         follow   14 how many entries follow these, then the ids (what this turn answers), and last the entries (JSON)
-- Returns for each turn {status, ...}
--   next, then what begin() gives   committed, and the caller holds the session's next turn
--   done                            committed, the session let go; also when this commit had arrived before
--   stale                           refused: somebody else holds the session, or another position
-- or 'alone' for one that failed among others

local now = now_ms()
-- Written at the end, for all turns at once.
local answered, over = {}, {}

local function bury(session, attempts, reason, id)
  local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
  if entry then
    redis.call('XADD', KEYS[5], '*', 'session', session, 'id', entry[2][4], 'reason', reason, 'attempts', attempts,
      'message', entry[2][6])
  end
end

local function tell(notices_key, events, notice)
  redis.call('XADD', notices_key, 'MAXLEN', '~', 100, '*', 'notice', notice)
  redis.call('PEXPIRE', notices_key, ARGV[4])
  redis.call('PUBLISH', events, notice)
end

local asked, nothing = cmsgpack.unpack(ARGV[8]), {}

local function commit(number, at)
  local session_key, log_key, waiting_key, live_key, out_key, notices_key, traces_key = unpack(KEYS, 7 * number, 7 * number + 6)
  local session, nonce, claim, turn, step, tokens, reply, take, more, fixed, settle, trace, ids, entries = unpack(
    asked, at, at + 13)
  local holder, done, claims, base, head, cursor, all_tokens, start_tokens, attempts, debounce, stop_upto = unpack(
    redis.call('HMGET', session_key, 'nonce', 'done', 'claims', 'base', 'head', 'cursor', 'tokens', 'tokens_start',
      'attempts', 'debounce', 'stop_upto'))

  local function go_on()
    local fields, list = fields_of(session_key)
    return begin('next', fields, list, session_key, log_key, waiting_key, KEYS[1], nil, take, now)
  end

  claims = tonumber(claims or 0)
  -- The claim number, not the turn, tells commits apart: one that only says something aside leaves the head where it is.
  local name = claim .. ' ' .. nonce
  local held = holder == nonce
  if done == name then
    -- It arrived before and its reply got lost. Still held: the next turn had begun, and begins again.
    if held then return go_on() end
    return {'done'}
  end
  if not held or claims ~= claim then return {'stale'} end
  base = tonumber(base or 0)
  if tonumber(head or 0) ~= turn or base + redis.call('LLEN', log_key) ~= turn + step then return {'stale'} end

  if more == '' then more = nothing end
  local first_entry = at + 14 + ids
  for place = at + 14, first_entry - 1 do
    local id = asked[place]
    if more.dead_reason then bury(session, attempts or 0, more.dead_reason, id) end
    redis.call('LREM', waiting_key, 1, id)
    answered[#answered + 1] = id
    if id == stop_upto then
      redis.call('HDEL', session_key, 'stop_upto')
      stop_upto = false
    end
  end

  local last_entry, new_head = first_entry + entries - 1, turn + step
  for place = first_entry, last_entry, 1000 do
    new_head = base + redis.call('RPUSH', log_key, unpack(asked, place, math.min(place + 999, last_entry)))
  end
  redis.call('DEL', live_key)
  if reply ~= '' then redis.call('XADD', out_key, '*', 'reply', reply) end
  for _, notice in ipairs(more.notices or nothing) do tell(notices_key, ARGV[5] .. session, notice) end
  local told = '","head":' .. new_head
  if new_head > turn or more.start_over then
    redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[3], '*', 'event',
      '{"type":"session-grew","session":"' .. session .. told .. '}')
  end
  if new_head > turn then
    redis.call('PUBLISH', ARGV[5] .. session,
      '{"type":"moved","session":"' .. session .. told .. ',"cursor":' .. (cursor or '0') .. '}')
  end

  local first = redis.call('LINDEX', waiting_key, 0)
  -- Going on saves a claim; but sessions that are ready take their turn first, or a flood would keep this slot for ever.
  local goes_on = take > 0 and first and redis.call('ZCARD', KEYS[2]) == 0
    and not window_ends(first, tonumber(debounce or 0), stop_upto or '', now)
  start_tokens = more.start_over and 0 or (start_tokens or 0) + tokens
  redis.call('HSET', session_key, 'head', new_head, 'done', name, 'attempts', goes_on and '1' or '0',
    'tokens', (all_tokens or 0) + tokens, 'tokens_start', start_tokens)
  if fixed ~= '' then redis.call('HSET', session_key, 'fixed', fixed) end
  if more.start_over then
    redis.call('HSET', session_key, 'start', new_head)
    redis.call('HDEL', session_key, 'continuity')
  end
  -- Whoever consolidates hears of it by the event; only when nobody comes is it looked for here.
  if (more.start_over and new_head > tonumber(cursor or 0)) or (settle ~= '' and start_tokens >= settle) then
    redis.call('ZADD', KEYS[6], 'NX', now + ARGV[2], session)
  end
  if more.options then redis.call('HSET', session_key, 'options', more.options) end
  if trace ~= '' then
    local kept = redis.call('RPUSH', traces_key, '{"committed_ms":' .. now .. ',' .. string.sub(trace, 2))
    if kept > tonumber(ARGV[6]) then redis.call('LTRIM', traces_key, -ARGV[6], -1) end
    redis.call('PEXPIRE', traces_key, ARGV[7])
  end

  if goes_on then
    local deadline = now + ARGV[1]
    redis.call('HSET', session_key, 'claims', claims + 1, 'lease', deadline, 'since', now)
    redis.call('HDEL', session_key, 'retry_at', 'parked_at')
    redis.call('ZADD', KEYS[3], deadline, session)
    return go_on()
  end
  redis.call('HDEL', session_key, 'nonce', 'lease', 'worker', 'since', 'retry_at', 'parked_at')
  if first then
    redis.call('ZADD', KEYS[2], 'NX', now, session)
    redis.call('ZADD', KEYS[3], now + ARGV[2], session)
  else
    over[#over + 1] = session
  end
  return {'done'}
end

local count, at, results = (#KEYS - 6) / 7, 1, {}
for number = 1, count do
  local following = at + 14 + asked[at + 12] + asked[at + 13]
  if count == 1 then
    results[1] = commit(1, at)
  else
    -- A session whose keys somebody has spoilt must not take the others along.
    local ok, result = pcall(commit, number, at)
    results[number] = ok and result or 'alone'
  end
  at = following
end
for at = 1, #answered, 1000 do redis.call('XDEL', KEYS[1], unpack(answered, at, math.min(at + 999, #answered))) end
if over[1] then
  redis.call('ZREM', KEYS[2], unpack(over))
  redis.call('ZREM', KEYS[3], unpack(over))
end
return results
