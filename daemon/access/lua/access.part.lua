-- Part of change.lua and redeem.lua: a decision about a person or a group, and whether it is newer than another one.

local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Stream ids, <ms>-<sequence>, as numbers.
local function is_later(id, other)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  if not other_ms then return true end
  ms, seq, other_ms, other_seq = tonumber(ms), tonumber(seq), tonumber(other_ms), tonumber(other_seq)
  return ms > other_ms or (ms == other_ms and seq > other_seq)
end

-- What is stored under a name; a hand may have spoilt it.
local function decoded(raw)
  if not raw then return nil end
  local ok, value = pcall(cjson.decode, raw)
  return ok and type(value) == 'table' and value or nil
end

-- Decide: 'done' (also when this very decision had arrived before), 'none' (there was no ban to lift), 'late' (a newer
-- decision stands).
local function decide(access_key, id, state, name, by, time, at)
  local was = decoded(redis.call('HGET', access_key, id))
  if was and was.at == at then return 'done' end
  if was and was.at and not is_later(at, was.at) then return 'late' end
  if state == 'free' and (not was or was.state ~= 'banned') then return 'none' end
  if name == '' and was and was.name then name = was.name end
  redis.call('HSET', access_key, id, cjson.encode({state = state, name = name, by = by, time = time, at = at}))
  return 'done'
end
