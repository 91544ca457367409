-- Part of claim.lua and commit.lua: a session's fields, and what its holder needs to begin a turn.

-- All at once, by name and as the list that the caller is given: read one by one they cost as much as the rest of a
-- claim. A number that is not there counts as 0.
local function fields_of(session_key)
  local list, fields = redis.call('HGETALL', session_key), {}
  for at = 1, #list, 2 do fields[list[at]] = list[at + 1] end
  return fields, list
end

local function number_of(field)
  return tonumber(field or 0)
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

-- What the holder of a session needs to begin a turn; first: what waits first, or nil to look:
--   {status, fence, claims, attempts, deaths, step, stop_upto, dropped, parked, list,
--    stream id, message, stream id, message, ...}
-- step: how many journal entries lie beyond head. parked: ms since the session was first parked since its last commit.
-- list: names and values of the session's fields, among which only those before it have changed since.
-- With a stop waiting, all messages up to it are given, else 'take', or with a debounce window all that came within it
-- after the first (at most BURST). From its second attempt on, and after a death, a turn without a journal is given the first message
-- only: one of the others may be what kills it.
-- An id whose entry is gone from the stream (deleted by hand, lost in a failover) is dropped from the list and counted.
-- A stop that no longer waits, for the same reason, is forgotten: nothing else would ever clear it.
local function begin(status, fields, list, session_key, log_key, waiting_key, in_key, first, take, now)
  local attempts, deaths = number_of(fields.attempts), number_of(fields.deaths)
  local stop_upto, at, dropped, window, stopped = fields.stop_upto or '', 0, 0, nil, false
  local step = number_of(fields.base) + redis.call('LLEN', log_key) - number_of(fields.head)
  local begun = {status, number_of(fields.fence), number_of(fields.claims), attempts, deaths, step, '', 0, 0, list}
  local debounce = number_of(fields.debounce)
  if (attempts > 1 or deaths > 0) and step == 0 then debounce = 0 end
  while at < take or window or stop_upto ~= '' do
    local id = first or redis.call('LINDEX', waiting_key, at)
    if not id then break end
    first = nil
    local wanted = at < take
    if window and at < BURST and position(id) <= window then wanted = true end
    if stop_upto ~= '' and not stopped and at_or_before(id, stop_upto) then wanted = true end
    stopped = stopped or id == stop_upto
    if not wanted then break end
    local entry = redis.call('XRANGE', in_key, id, id)[1]
    if entry then
      if at == 0 and debounce > 0 then window = position(id) + debounce end
      begun[#begun + 1] = id
      begun[#begun + 1] = entry[2][6]
      at = at + 1
    else
      redis.call('LREM', waiting_key, 1, id)
      dropped = dropped + 1
    end
  end
  if stop_upto ~= '' and not (at > 0 and at_or_before(begun[11], stop_upto)) then
    redis.call('HDEL', session_key, 'stop_upto')
    stop_upto = ''
  end
  local parked_at = number_of(fields.parked_at)
  begun[7], begun[8] = stop_upto, dropped
  if parked_at > 0 and parked_at < now then begun[9] = now - parked_at end
  return begun
end
