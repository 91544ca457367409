-- Part of claim.lua and commit.lua: what the holder of a session needs to begin a turn.
--
-- begin(session_key, log_key, waiting_key, in_key, take) returns
--   {fence, claims, attempts, head, base, start, cursor, tokens, step, stop_upto, scope, dropped, parked,
--    stream id, message, stream id, message, ...}
-- step: how many journal entries lie beyond head. parked: ms since the session was first parked since its last commit.
-- With a stop waiting, all messages up to it are given, else 'take', or with a debounce window all that came within it
-- after the first (at most BURST). From its second attempt on, a turn without a journal is given the first message
-- only: one of the others may be what kills it.
-- An id whose entry is gone from the stream (deleted by hand, lost in a failover) is dropped from the list and counted.
-- A stop that no longer waits, for the same reason, is forgotten: nothing else would ever clear it.

local function number_of(session_key, field)
  return tonumber(redis.call('HGET', session_key, field) or '0')
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

-- When the window of the first waiting message is over, or nil: it is, there is none, or a stop does not wait for it.
local function window_ends(session_key, waiting_key, now)
  local debounce = number_of(session_key, 'debounce')
  if debounce == 0 or redis.call('HEXISTS', session_key, 'stop_upto') == 1 then return nil end
  local first = redis.call('LINDEX', waiting_key, 0)
  if not first then return nil end
  local ends = position(first) + debounce
  -- Further off than the window is long: the server's clock was set back.
  if ends > now and ends <= now + debounce then return ends end
  return nil
end

local function begin(session_key, log_key, waiting_key, in_key, take)
  local stop_upto = redis.call('HGET', session_key, 'stop_upto') or ''
  local given, dropped, at = {}, 0, 0
  local head, base = number_of(session_key, 'head'), number_of(session_key, 'base')
  local step = base + redis.call('LLEN', log_key) - head
  local debounce = number_of(session_key, 'debounce')
  if number_of(session_key, 'attempts') > 1 and step == 0 then debounce = 0 end
  local window = nil
  while true do
    local id = redis.call('LINDEX', waiting_key, at)
    if not id then break end
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
  local time, parked_at = redis.call('TIME'), number_of(session_key, 'parked_at')
  local parked = time[1] * 1000 + math.floor(time[2] / 1000) - parked_at
  if parked_at == 0 or parked < 0 then parked = 0 end
  local begun = {
    number_of(session_key, 'fence'), number_of(session_key, 'claims'), number_of(session_key, 'attempts'),
    head, base, number_of(session_key, 'start'), number_of(session_key, 'cursor'),
    number_of(session_key, 'tokens'), step, stop_upto,
    redis.call('HGET', session_key, 'scope') or '', dropped, parked,
  }
  for _, value in ipairs(given) do begun[#begun + 1] = value end
  return begun
end
