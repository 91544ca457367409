-- Claim sessions of one partition: each gets a lease with a rising fence and a nonce of the caller's. Only this judges
-- lease and back-off.
--
-- KEYS  1 in (stream)  2 ready (zset)  3 due (zset), then for each session
--       1 session (hash)  2 log (list)  3 waiting (list)
-- ARGV  1 worker  2 lease (ms)  3 longest deadline (ms)  4 how many messages to take
--       5 from how many deaths on a message is suspect  6 first pause of a suspect (ms); each is four times the one before
--       7 its longest pause (ms)  8 attempts after which nothing is tried any more  9 packed, for each session
--         1 session key  2 nonce, random
-- Returns for each session {status, ...}
--   claimed, and what begin() gives   held now; also when this very claim arrives again before its turn went on.
--                                      Without a message when every one that waited was gone from the stream: whoever
--                                      holds it reports what was dropped and gives it back
--   held, ms until the lease ends      somebody else answers it
--   parked, ms until the retry         it backs off, its workers died, or its data is damaged. A parked one whose people were told, and
--                                      that got another message since, and a damaged one the first time: then how many wait,
--                                      ms since it was parked, why, and the newest message
--   empty                              nothing waits
--   ended                              this very claim was granted, used and given up already
--   refused, why                       its keys do not hold what they should

local now, take = now_ms(), tonumber(ARGV[4])
-- As text, made once for all sessions.
local since, deadline = string.format('%.0f', now), string.format('%.0f', now + ARGV[2])

local longest, suspect, longest_pause = now + ARGV[3], tonumber(ARGV[5]), tonumber(ARGV[7])

local function ahead(at)
  return at > now and at <= longest
end

-- Written at the end, for all sessions at once.
local taken, deadlines = {}, {}

local function set_deadline(session, at)
  taken[#taken + 1] = session
  deadlines[#deadlines + 1] = at
  deadlines[#deadlines + 1] = session
end

local function later(session, at, status)
  -- The pause of a suspect may be longer than any deadline: it is looked at meanwhile.
  set_deadline(session, math.min(at, longest))
  return {status, at - now}
end

-- The holder neither committed nor gave the session back: its process died, or was paused for longer than the lease.
-- Any of the sessions in that process may be the cause, so the attempt counts only when the message was alone in it, as
-- a suspect is. Returns when the pause of a suspect ends, or nil: the session can be claimed now.
local function died(fields)
  fields.deaths = number_of(fields.deaths) + 1
  if fields.deaths <= suspect then fields.attempts = math.max(0, number_of(fields.attempts) - 1) end
  -- A stop ends the pause before it begins; what is to be given up needs none.
  if fields.deaths < suspect or fields.stop_upto or number_of(fields.attempts) >= tonumber(ARGV[8]) then return nil end
  return now + math.min(longest_pause, ARGV[6] * 4 ^ (fields.deaths - suspect))
end

-- A parked session of which people are to be told: how many messages wait, for how long, why, and the newest one.
local function still_parked(left, session_key, waiting_key, parked_at, why)
  local count = redis.call('LLEN', waiting_key)
  redis.call('HSET', session_key, 'parked_told', count)
  local newest = redis.call('LINDEX', waiting_key, -1)
  local entry = newest and redis.call('XRANGE', KEYS[1], newest, newest)[1]
  if not entry then return {'parked', left} end
  return {'parked', left, count, math.max(0, now - parked_at), why, entry[2][6]}
end

-- The fields that each turn reckons with.
local NUMBERS = {'base', 'begins', 'cursor', 'start', 'head', 'tokens', 'tokens_start', 'fence', 'claims', 'attempts', 'deaths'}
-- Those that can be done without.
local TIMES = {'lease', 'retry_at', 'debounce', 'parked_at'}

-- What keeps every turn of a session from being committed, as text, or nil. Told from its keys, since a turn would only
-- find that somebody else must have written, and begin anew for ever.
local function damage_of(fields, session_key, log_key)
  for _, name in ipairs(TIMES) do
    if fields[name] and not tonumber(fields[name]) then
      fields[name] = nil
      redis.call('HDEL', session_key, name)
    end
  end
  for _, name in ipairs(NUMBERS) do
    if fields[name] and not string.match(fields[name], '^%d+$') then return name .. ' is not a number' end
  end
  local missing = number_of(fields.head) - number_of(fields.base) - redis.call('LLEN', log_key)
  if missing > 0 then return string.format('%d messages are missing from the log', missing) end
  return nil
end

-- It rests, and is looked at again: a person may have mended it.
local function rest(session, fields, session_key, waiting_key, damage)
  local why, told = 'damage: ' .. damage .. '. Run `millpond data check --repair`.', tonumber(fields.parked_told or '') or 0
  redis.call('HDEL', session_key, 'nonce', 'lease', 'worker', 'since', 'debounce')
  redis.call('HSET', session_key, 'retry_at', string.format('%.0f', longest), 'parked_why', why)
  if not tonumber(fields.parked_at or '') then redis.call('HSET', session_key, 'parked_at', since) end
  set_deadline(session, longest)
  if redis.call('LLEN', waiting_key) <= told then return {'parked', longest - now} end
  return still_parked(longest - now, session_key, waiting_key, tonumber(fields.parked_at or '') or now, why)
end

local function claim(session, nonce, session_key, log_key, waiting_key)
  local fields, list = fields_of(session_key)
  local first = redis.call('LINDEX', waiting_key, 0)
  local function claimed()
    return begin('claimed', fields, list, session_key, log_key, waiting_key, KEYS[1], first, take, now)
  end
  if fields.nonce == nonce then return claimed() end

  -- A copy that arrives after its turn was committed or given back: its sender had the other copy's answer, and nobody
  -- would work under this one.
  local committed = string.match(fields.done or '', ' (%S+)$')
  local released = string.match(fields.released or '', '^(%S+) ')
  if committed == nonce or released == nonce then return {'ended'} end

  local lease = tonumber(fields.lease or '') or 0
  if ahead(lease) then return later(session, lease, 'held') end
  local damage = first and damage_of(fields, session_key, log_key)
  if damage then return rest(session, fields, session_key, waiting_key, damage) end
  local retry_at = number_of(fields.retry_at)
  local is_suspect = number_of(fields.deaths) >= suspect
  if ahead(retry_at) or (is_suspect and retry_at > now and retry_at <= now + longest_pause) then
    local result, told = later(session, retry_at, 'parked'), tonumber(fields.parked_told)
    local count = told and redis.call('LLEN', waiting_key) or 0
    if not told or count <= told then return result end
    return still_parked(result[2], session_key, waiting_key, number_of(fields.parked_at), fields.parked_why or '')
  end
  local ends = window_ends(first, number_of(fields.debounce), fields.stop_upto or '', now)
  if ends then return later(session, ends, 'parked') end

  if not first then
    redis.call('ZREM', KEYS[2], session)
    redis.call('ZREM', KEYS[3], session)
    redis.call('HDEL', session_key, 'nonce', 'lease', 'worker', 'since', 'retry_at', 'stop_upto', 'deaths')
    return {'empty'}
  end

  if fields.nonce then
    local pause_ends = died(fields)
    redis.call('HSET', session_key, 'deaths', fields.deaths)
    if pause_ends then
      redis.call('HDEL', session_key, 'nonce', 'lease', 'worker', 'since', 'parked_told')
      -- A copy of this call that arrives after the pause claims nothing.
      redis.call('HSET', session_key, 'attempts', fields.attempts, 'retry_at', pause_ends, 'released', nonce .. ' done',
        'parked_why', 'death: ' .. fields.deaths .. ' workers died while processing this message, so the message is tried alone')
      return later(session, pause_ends, 'parked')
    end
  end

  fields.fence, fields.claims = number_of(fields.fence) + 1, number_of(fields.claims) + 1
  fields.attempts = number_of(fields.attempts) + 1
  redis.call('HSET', session_key, 'fence', fields.fence, 'claims', fields.claims, 'attempts', fields.attempts,
    'nonce', nonce, 'worker', ARGV[1], 'lease', deadline, 'since', since)
  if fields.retry_at then redis.call('HDEL', session_key, 'retry_at') end
  set_deadline(session, deadline)
  return claimed()
end

local asked, results = cmsgpack.unpack(ARGV[9]), {}
for number = 1, #asked / 2 do
  local key, at = 1 + 3 * number, 2 * number - 1
  -- A session whose keys somebody has spoilt must not keep the others from being claimed.
  local ok, result = pcall(claim, asked[at], asked[at + 1], KEYS[key], KEYS[key + 1], KEYS[key + 2])
  if not ok then
    local why = type(result) == 'table' and result.err or result
    ok, result = pcall(function()
      return rest(asked[at], fields_of(KEYS[key]), KEYS[key], KEYS[key + 2], 'its keys cannot be read')
    end)
    if not ok then result = {'refused', why} end
  end
  results[number] = result
end
if taken[1] then
  redis.call('ZREM', KEYS[2], unpack(taken))
  redis.call('ZADD', KEYS[3], unpack(deadlines))
end
return results
