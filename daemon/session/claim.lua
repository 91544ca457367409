-- Claim sessions of one partition: each gets a lease with a rising fence and a nonce of the caller's. Only this judges
-- lease and back-off.
--
-- KEYS  1 in (stream)  2 ready (zset)  3 due (zset), then for each session
--       1 session (hash)  2 log (list)  3 waiting (list)
-- ARGV  1 worker  2 lease (ms)  3 longest deadline (ms)  4 how many messages to take, then for each session
--       1 session key  2 nonce, random
-- Returns for each session {status, ...}
--   claimed, then what begin() gives   held now; also when this very claim arrives again before its turn went on.
--                                      Without a message when every one that waited was gone from the stream: whoever
--                                      holds it reports what was dropped and gives it back
--   held, ms until the lease ends      somebody else answers it
--   parked, ms until the retry         it backs off
--   empty                              nothing waits
--   ended                              this very claim was granted, used and given up already
--   refused, why                       its keys do not hold what they should

local now, take = now_ms(), tonumber(ARGV[4])

local function ahead(deadline)
  if deadline > now and deadline <= now + tonumber(ARGV[3]) then return deadline end
  return nil
end

-- Written at the end, for all sessions at once.
local taken, deadlines = {}, {}

local function set_deadline(session, deadline)
  taken[#taken + 1] = session
  deadlines[#deadlines + 1] = deadline
  deadlines[#deadlines + 1] = session
end

local function later(session, deadline, status)
  set_deadline(session, deadline)
  return {status, deadline - now}
end

local function claimed(fields, first, session_key, log_key, waiting_key)
  local begun = begin(fields, session_key, log_key, waiting_key, KEYS[1], first, take, now)
  table.insert(begun, 1, 'claimed')
  return begun
end

local function claim(session, nonce, session_key, log_key, waiting_key)
  local fields = fields_of(session_key)
  local first = redis.call('LINDEX', waiting_key, 0)
  if fields.nonce == nonce then return claimed(fields, first, session_key, log_key, waiting_key) end

  -- A copy that arrives after its turn was committed or given back: its sender had the other copy's answer, and nobody
  -- would work under this one.
  local committed = string.match(fields.done, ' (%S+)$')
  local released = string.match(fields.released, '^(%S+) ')
  if committed == nonce or released == nonce then return {'ended'} end

  if ahead(fields.lease) then return later(session, fields.lease, 'held') end
  if ahead(fields.retry_at) then return later(session, fields.retry_at, 'parked') end
  local ends = window_ends(first, fields.debounce, fields.stop_upto, now)
  if ends then return later(session, ends, 'parked') end

  if not first then
    redis.call('ZREM', KEYS[2], session)
    redis.call('ZREM', KEYS[3], session)
    redis.call('HDEL', session_key, 'nonce', 'lease', 'worker', 'since', 'retry_at', 'stop_upto')
    return {'empty'}
  end

  local deadline = now + tonumber(ARGV[2])
  fields.fence, fields.claims, fields.attempts = fields.fence + 1, fields.claims + 1, fields.attempts + 1
  redis.call('HSET', session_key, 'fence', fields.fence, 'claims', fields.claims, 'attempts', fields.attempts,
    'nonce', nonce, 'worker', ARGV[1], 'lease', deadline, 'since', now)
  if fields.retry_at ~= 0 then redis.call('HDEL', session_key, 'retry_at') end
  set_deadline(session, deadline)
  return claimed(fields, first, session_key, log_key, waiting_key)
end

local results = {}
for number = 1, (#KEYS - 3) / 3 do
  local key, arg = 1 + 3 * number, 3 + 2 * number
  -- A session whose keys somebody has spoilt must not keep the others from being claimed.
  local ok, result = pcall(claim, ARGV[arg], ARGV[arg + 1], KEYS[key], KEYS[key + 1], KEYS[key + 2])
  results[number] = ok and result or {'refused', type(result) == 'table' and result.err or result}
end
if taken[1] then
  redis.call('ZREM', KEYS[2], unpack(taken))
  redis.call('ZADD', KEYS[3], unpack(deadlines))
end
return results
