-- Part of note.lua and reserve.lua: what model calls in progress have reserved of a day's limits.
--
-- The hash `reserved` holds sums, `<name> <kind> tokens` and `<name> <kind> nano`, of each bot, person and chat, and for
-- each call in progress its reservation, JSON: bot, person, chat, model (names; empty: nobody's), tokens, nano (as many as it
-- may use), tokens_in, nano_in (those of its prompt), cost (measure of that money in the accounts), ends (ms)

local function sum_of(reserved_key, name, kind, measure)
  return tonumber(redis.call('HGET', reserved_key, name .. ' ' .. kind .. ' ' .. measure) or '0')
end

local function change_sum(reserved_key, name, kind, measure, by)
  if name == '' or by == 0 then return end
  local field = name .. ' ' .. kind .. ' ' .. measure
  local sum = redis.call('HINCRBY', reserved_key, field, string.format('%.0f', by))
  if sum <= 0 then redis.call('HDEL', reserved_key, field) end
end

local function change_sums(reserved_key, reservation, sign)
  for _, kind in ipairs({'bot', 'person', 'chat'}) do
    change_sum(reserved_key, reservation[kind], kind, 'tokens', sign * reservation.tokens)
    change_sum(reserved_key, reservation[kind], kind, 'nano', sign * reservation.nano)
  end
end

-- The reservation of a call, which ends with this; nil: there is none.
local function released(reserved_key, call)
  local found = redis.call('HGET', reserved_key, call)
  if not found then return nil end
  local reservation = cjson.decode(found)
  redis.call('HDEL', reserved_key, call)
  change_sums(reserved_key, reservation, -1)
  return reservation
end
