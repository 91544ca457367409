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
--         1 session key   2 nonce   3 claim number   4 turn   5 step   6 tokens of all its entries   7 reply (1/0)
--         8 go on: how many messages to take next, 0 to let go   9 what few do, or '': {dead_reason = ...,
--         start_over = true, options = JSON, notices = {JSON, ...}}, each of which may be missing
--        10 tokens that stand in every prompt of the session, or ''   11 tokens from the start on from which on it
--         should be settled, or ''   12 its trace (JSON), to which the time is added, or ''   13 how many stream ids
--         follow   14 how many entries it has, then the ids (what this turn answers)
--       then for each turn its entries and its reply (JSON each)
-- Returns for each turn {status, ...}
--   next, then what begin() gives   committed, and the caller holds the session's next turn
--   done                            committed, the session let go; also when this commit had arrived before
--   stale                           refused: somebody else holds the session, or another position
-- or 'alone' for one that failed among others

local now = now_ms()
-- Written at the end, for all turns at once.
local answered, over, gone_keys = {}, {}, {}

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

-- Of the turn of this number, what is packed from place at on, and the arguments from place body on.
local function commit(number, at, body)
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
  local last_id = at + 13 + ids
  local waiting = redis.call('LRANGE', waiting_key, 0, ids)
  local all = #waiting == ids
  for place = at + 14, last_id do
    local id = asked[place]
    if more.dead_reason then bury(session, attempts or 0, more.dead_reason, id) end
    all = all and waiting[place - at - 13] == id
    if id == stop_upto then
      redis.call('HDEL', session_key, 'stop_upto')
      stop_upto = false
    end
  end
  -- Read rather than removed and read anew: as a rule nothing else waits.
  local first = false
  if not all then
    for place = at + 14, last_id do redis.call('LREM', waiting_key, 1, asked[place]) end
    first = redis.call('LINDEX', waiting_key, 0)
  end

  local new_head = turn + step
  for place = body, body + entries - 1, 1000 do
    new_head = base + redis.call('RPUSH', log_key, unpack(ARGV, place, math.min(place + 999, body + entries - 1)))
  end
  if reply == 1 then redis.call('XADD', out_key, '*', 'reply', ARGV[body + entries]) end
  -- From here on it is answered, whatever comes: else it would be answered anew, and anew.
  for place = at + 14, last_id do answered[#answered + 1] = asked[place] end
  gone_keys[#gone_keys + 1] = live_key
  if all then gone_keys[#gone_keys + 1] = waiting_key end
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
    redis.call('HDEL', session_key, 'deaths', 'retry_at', 'parked_at', 'parked_why', 'parked_told')
    redis.call('ZADD', KEYS[3], deadline, session)
    return go_on()
  end
  redis.call('HDEL', session_key, 'nonce', 'lease', 'worker', 'since', 'deaths', 'retry_at', 'parked_at',
    'parked_why', 'parked_told')
  if first then
    redis.call('ZADD', KEYS[2], 'NX', now, session)
    redis.call('ZADD', KEYS[3], now + ARGV[2], session)
  else
    over[#over + 1] = session
  end
  return {'done'}
end

-- A script is refused at its first write, when the server has no memory left and that write may need some: but commits are
-- what gives memory back. What else a server may refuse for now it refuses here, for all turns at once.
redis.call('ZREM', KEYS[2], '')

local count, at, body, results, failed = (#KEYS - 6) / 7, 1, 9, {}, nil
for number = 1, count do
  local following, following_body = at + 14 + asked[at + 12], body + asked[at + 13] + asked[at + 6]
  -- A session whose keys somebody has spoilt must not take the others along, nor leave its own commit half done.
  local ok, result = pcall(commit, number, at, body)
  results[number] = ok and result or 'alone'
  if not ok and count == 1 then failed = result end
  at, body = following, following_body
end
if gone_keys[1] then redis.call('DEL', unpack(gone_keys)) end
for at = 1, #answered, 1000 do redis.call('XDEL', KEYS[1], unpack(answered, at, math.min(at + 999, #answered))) end
if over[1] then
  redis.call('ZREM', KEYS[2], unpack(over))
  redis.call('ZREM', KEYS[3], unpack(over))
end
if failed then return type(failed) == 'table' and failed or redis.error_reply(failed) end
return results
