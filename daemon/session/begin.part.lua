-- Part of claim.lua and commit.lua: a session's fields, and what its holder needs to begin a turn.

-- All at once: read one by one they cost as much as the rest of a claim. An absent number is 0, an absent word ''.
local function fields_of(session_key)
  local fence, claims, attempts, head, base, start, cursor, tokens, tokens_start, parked_at, debounce, lease, retry_at,
    nonce, done, released, stop_upto, scope, options, continuity, flushed = unpack(redis.call('HMGET', session_key,
    'fence', 'claims', 'attempts', 'head', 'base', 'start', 'cursor', 'tokens', 'tokens_start', 'parked_at',
    'debounce', 'lease', 'retry_at', 'nonce', 'done', 'released', 'stop_upto', 'scope', 'options', 'continuity',
    'flushed'))
  return {
    fence = tonumber(fence or 0), claims = tonumber(claims or 0), attempts = tonumber(attempts or 0),
    head = tonumber(head or 0), base = tonumber(base or 0), start = tonumber(start or 0), cursor = tonumber(cursor or 0),
    tokens = tonumber(tokens or 0), tokens_start = tonumber(tokens_start or 0), parked_at = tonumber(parked_at or 0),
    debounce = tonumber(debounce or 0), lease = tonumber(lease or 0), retry_at = tonumber(retry_at or 0),
    nonce = nonce or '', done = done or '', released = released or '', stop_upto = stop_upto or '', scope = scope or '',
    options = options or '', continuity = continuity or '', flushed = flushed or '',
  }
end

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function position(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end

local function at_or_before(id, upto)
  local ms, seq = position(id)
  local upto_ms, upto_seq = position(upto)
  return ms < upto_ms or (ms == upto_ms and seq <= upto_seq)
end

local BURST = 32

-- When the window of the message that waits first is over, or nil: it is, there is none, or a stop does not wait for it.
local function window_ends(first, debounce, stop_upto, now)
  if not first or debounce == 0 or stop_upto ~= '' then return nil end
  local ends = position(first) + debounce
  -- Further off than the window is long: the server's clock was set back.
  if ends > now and ends <= now + debounce then return ends end
  return nil
end

-- The turn of a session that was just claimed, with its fields as they are now; first: what waits first, or nil to look:
--   {fence, claims, attempts, head, base, start, cursor, tokens, step, stop_upto, scope, options, continuity, flushed,
--    dropped, parked,
--    stream id, message, stream id, message, ...}
-- step: how many journal entries lie beyond head. parked: ms since the session was first parked since its last commit.
-- With a stop waiting, all messages up to it are given, else 'take', or with a debounce window all that came within it
-- after the first (at most BURST). From its second attempt on, a turn without a journal is given the first message
-- only: one of the others may be what kills it.
-- An id whose entry is gone from the stream (deleted by hand, lost in a failover) is dropped from the list and counted.
-- A stop that no longer waits, for the same reason, is forgotten: nothing else would ever clear it.
local function begin(fields, session_key, log_key, waiting_key, in_key, first, take, now)
  local stop_upto, given, dropped, at, window = fields.stop_upto, {}, 0, 0, nil
  local step = fields.base + redis.call('LLEN', log_key) - fields.head
  local debounce = fields.debounce
  if fields.attempts > 1 and step == 0 then debounce = 0 end
  while at < take or window or stop_upto ~= '' do
    local id = first or redis.call('LINDEX', waiting_key, at)
    if not id then break end
    first = nil
    local wanted = at < take
    if window and at < BURST and position(id) <= window then wanted = true end
    if stop_upto ~= '' and at_or_before(id, stop_upto) then wanted = true end
    if not wanted then break end
    local entry = redis.call('XRANGE', in_key, id, id)[1]
    if entry then
      if at == 0 and debounce > 0 then window = position(id) + debounce end
      given[#given + 1] = id
      given[#given + 1] = entry[2][6]
      at = at + 1
    else
      redis.call('LREM', waiting_key, 1, id)
      dropped = dropped + 1
    end
  end
  if stop_upto ~= '' and not (given[1] and at_or_before(given[1], stop_upto)) then
    redis.call('HDEL', session_key, 'stop_upto')
    stop_upto = ''
  end
  local parked = now - fields.parked_at
  if fields.parked_at == 0 or parked < 0 then parked = 0 end
  local begun = {fields.fence, fields.claims, fields.attempts, fields.head, fields.base, fields.start, fields.cursor,
    fields.tokens, step, stop_upto, fields.scope, fields.options, fields.continuity, fields.flushed,
    dropped, parked}
  -- One by one: thousands are more than unpack can take.
  for _, value in ipairs(given) do begun[#begun + 1] = value end
  return begun
end
