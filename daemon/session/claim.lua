-- Claim sessions of one partition: each gets a lease with a rising fence and a nonce of the caller's. Only this judges
-- lease and back-off.
--
-- KEYS  1 in (stream)  2 ready (zset)  3 due (zset), then for each session
--       1 session (hash)  2 log (list)  3 waiting (list)
-- ARGV  1 worker  2 lease (ms)  3 longest deadline (ms)  4 how many messages to take  5 packed, for each session
--         1 session key  2 nonce, random
-- Returns for each session {status, ...}
--   claimed, and what begin() gives   held now; also when this very claim arrives again before its turn went on.
--                                      Without a message when every one that waited was gone from the stream: whoever
--                                      holds it reports what was dropped and gives it back
--   held, ms until the lease ends      somebody else answers it
--   parked, ms until the retry         it backs off. A parked one whose people were told, and that got another message
--                                      since: then how many wait, ms since it was parked, why, and the newest message
--   empty                              nothing waits
--   ended                              this very claim was granted, used and given up already
--   refused, why                       its keys do not hold what they should

local now, take = now_ms(), tonumber(ARGV[4])
-- As text, made once for all sessions.
local since, deadline = string.format('%.0f', now), string.format('%.0f', now + ARGV[2])

local longest = now + ARGV[3]

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
  set_deadline(session, at)
  return {status, at - now}
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

  local lease, retry_at = number_of(fields.lease), number_of(fields.retry_at)
  if ahead(lease) then return later(session, lease, 'held') end
  if ahead(retry_at) then
    local result, told = later(session, retry_at, 'parked'), tonumber(fields.parked_told)
    local count = told and redis.call('LLEN', waiting_key) or 0
    if told and count > told then
      redis.call('HSET', session_key, 'parked_told', count)
      local newest = redis.call('LINDEX', waiting_key, -1)
      local entry = redis.call('XRANGE', KEYS[1], newest, newest)[1]
      if entry then
        local parked_ms = math.max(0, now - number_of(fields.parked_at))
        result = {'parked', result[2], count, parked_ms, fields.parked_why or '', entry[2][6]}
      end
    end
    return result
  end
  local ends = window_ends(first, number_of(fields.debounce), fields.stop_upto or '', now)
  if ends then return later(session, ends, 'parked') end

  if not first then
    redis.call('ZREM', KEYS[2], session)
    redis.call('ZREM', KEYS[3], session)
    redis.call('HDEL', session_key, 'nonce', 'lease', 'worker', 'since', 'retry_at', 'stop_upto')
    return {'empty'}
  end

  fields.fence, fields.claims = number_of(fields.fence) + 1, number_of(fields.claims) + 1
  fields.attempts = number_of(fields.attempts) + 1
  redis.call('HSET', session_key, 'fence', fields.fence, 'claims', fields.claims, 'attempts', fields.attempts,
    'nonce', nonce, 'worker', ARGV[1], 'lease', deadline, 'since', since)
  if fields.retry_at then redis.call('HDEL', session_key, 'retry_at') end
  set_deadline(session, deadline)
  return claimed()
end

local asked, results = cmsgpack.unpack(ARGV[5]), {}
for number = 1, #asked / 2 do
  local key, at = 1 + 3 * number, 2 * number - 1
  -- A session whose keys somebody has spoilt must not keep the others from being claimed.
  local ok, result = pcall(claim, asked[at], asked[at + 1], KEYS[key], KEYS[key + 1], KEYS[key + 2])
  results[number] = ok and result or {'refused', type(result) == 'table' and result.err or result}
end
if taken[1] then
  redis.call('ZREM', KEYS[2], unpack(taken))
  redis.call('ZADD', KEYS[3], unpack(deadlines))
end
return results
