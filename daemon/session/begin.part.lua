-- Part of claim.lua and commit.lua: what the holder of a session needs to begin a turn.
--
-- begin(session_key, log_key, waiting_key, in_key, take) returns
--   {fence, claims, attempts, head, base, start, cursor, tokens, step, stop_upto, scope, dropped, parked,
--    stream id, message, stream id, message, ...}
-- step: how many journal entries lie beyond head. With a stop waiting, all messages up to it are given, else 'take'.
-- parked: ms since the session was first parked since its last commit, else 0.
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

local function begin(session_key, log_key, waiting_key, in_key, take)
  local stop_upto = redis.call('HGET', session_key, 'stop_upto') or ''
  local given, dropped, at = {}, 0, 0
  while true do
    local id = redis.call('LINDEX', waiting_key, at)
    if not id then break end
    local wanted = at < take
    if stop_upto ~= '' and at_or_before(id, stop_upto) then wanted = true end
    if not wanted then break end
    local entry = redis.call('XRANGE', in_key, id, id)[1]
    if entry then
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
  local head, base = number_of(session_key, 'head'), number_of(session_key, 'base')
  local begun = {
    number_of(session_key, 'fence'), number_of(session_key, 'claims'), number_of(session_key, 'attempts'),
    head, base, number_of(session_key, 'start'), number_of(session_key, 'cursor'),
    number_of(session_key, 'tokens'), base + redis.call('LLEN', log_key) - head, stop_upto,
    redis.call('HGET', session_key, 'scope') or '', dropped, parked,
  }
  for _, value in ipairs(given) do begun[#begun + 1] = value end
  return begun
end
