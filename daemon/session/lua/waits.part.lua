-- Part of amend.lua and withdraw.lua: where a message waits whose stream id is given.
-- Returns its place in the list, or nil and why nothing can be done about it: 'gone' or 'late'; see there.

local function place_of(id, burst, in_key, session_key, waiting_key, log_key)
  local at = redis.call('LPOS', waiting_key, id)
  if not at or not redis.call('XRANGE', in_key, id, id)[1] then return nil, 'gone' end

  local nonce, head, base, debounce, stop_upto = unpack(redis.call('HMGET', session_key, 'nonce', 'head', 'base',
    'debounce', 'stop_upto'))
  local function position(stream_id)
    local ms, seq = string.match(stream_id, '^(%d+)-(%d+)$')
    return tonumber(ms), tonumber(seq)
  end

  local ms, seq = position(id)
  -- Of a turn that is under way: the first, and all that came within the window after it. Only its holder knows better;
  -- whoever died with it is found out by a claim.
  local function is_read()
    if not nonce and tonumber(base or 0) + redis.call('LLEN', log_key) <= tonumber(head or 0) then return false end
    if at == 0 then return true end
    return debounce and at < tonumber(burst) and ms <= position(redis.call('LINDEX', waiting_key, 0)) + debounce
  end
  local function is_stopped()
    if not stop_upto then return false end
    -- Places count before IDs: an edited message has a newer ID than the messages behind it.
    local stop_at = redis.call('LPOS', waiting_key, stop_upto)
    if stop_at then return at <= stop_at end
    local stop_ms, stop_seq = position(stop_upto)
    return ms < stop_ms or (ms == stop_ms and seq <= stop_seq)
  end
  if is_read() or is_stopped() then return nil, 'late' end
  return at
end
