-- Reserve for a model call what it may use of the day's limits of a bot, a person and a chat: of all of them or none, once.
-- A call is let in while what was used and what is reserved are together below each limit. So one call may pass a limit.
--
-- KEYS  1 noted (hash)  2 of bots (hash)  3 of persons (hash)  4 of sessions (hash)  5 of models (hash)
--       6 reserved (hash, see reserved.part.lua)  7 told (hash)
-- ARGV  1 name of the call; empty: only look  2 its reservation, JSON  3 ms until it ends
--       4 TTL of the accounts (ms)  5 TTL of the others (ms)  6 measure of the limited money in the accounts
--       7 session  8 the message whose people are told that a limit is used up; empty: nobody is told
--       9... of the bot, the person and the chat, three each: name, limit of tokens, limit of money (0: none)
-- Returns {'reserved', '', 0}, also when it was reserved or noted before; or {'spent' or 'busy', 'bot', 'person' or 'chat', tell}
--   spent: what was used has reached the limit; busy: it may, with what calls in progress have reserved
--   tell 1: this is the first message of the session today that a used up limit concerns; the same again for that one

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kinds = {'bot', 'person', 'chat'}

local function kept(account_key, ttl)
  if redis.call('PTTL', account_key) < 0 then redis.call('PEXPIRE', account_key, ttl) end
end

local function used(account_key, name, ...)
  local total = 0
  for _, measure in ipairs({...}) do
    total = total + tonumber(redis.call('HGET', account_key, name .. ' ' .. measure) or '0')
  end
  return total
end

-- Why there is no room: 'spent', 'busy' or nothing.
local function obstacle(account_key, reserved_key, kind, name, tokens_limit, nano_limit)
  local found = nil
  if tokens_limit > 0 then
    local tokens = used(account_key, name, 'in', 'out')
    if tokens >= tokens_limit then return 'spent' end
    if tokens + sum_of(reserved_key, name, kind, 'tokens') >= tokens_limit then found = 'busy' end
  end
  if nano_limit > 0 then
    local nano = used(account_key, name, ARGV[6])
    if nano >= nano_limit then return 'spent' end
    if nano + sum_of(reserved_key, name, kind, 'nano') >= nano_limit then found = 'busy' end
  end
  return found
end

-- The first obstacle, the chat's before the person's before the bot's; a used up limit before a busy one.
local function refusal()
  local status, whose = nil, nil
  for at = 3, 1, -1 do
    local first = 6 + 3 * at
    if ARGV[first] ~= '' then
      local found = obstacle(KEYS[1 + at], KEYS[6], kinds[at], ARGV[first], tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2]))
      if found == 'spent' then return found, kinds[at] end
      if found and not status then status, whose = found, kinds[at] end
    end
  end
  return status, whose
end

local function book(account_key, name, reservation)
  if name == '' then return end
  redis.call('HINCRBY', account_key, name .. ' calls', 1)
  redis.call('HINCRBY', account_key, name .. ' estimated', 1)
  redis.call('HINCRBY', account_key, name .. ' in', string.format('%.0f', reservation.tokens_in))
  if reservation.nano_in > 0 then
    redis.call('HINCRBY', account_key, name .. ' ' .. reservation.cost, string.format('%.0f', reservation.nano_in))
  end
  kept(account_key, ARGV[4])
end

-- Calls whose process died: each counts as its prompt, which the model was probably sent.
local function end_overdue(noted_key, reserved_key)
  local all = redis.call('HGETALL', reserved_key)
  for at = 1, #all, 2 do
    local call, text = all[at], all[at + 1]
    if string.sub(text, 1, 1) == '{' and cjson.decode(text).ends <= now then
      local reservation = released(reserved_key, call)
      if redis.call('HSETNX', noted_key, call, '1') == 1 then
        book(KEYS[2], reservation.bot, reservation)
        book(KEYS[3], reservation.person, reservation)
        book(KEYS[4], reservation.chat, reservation)
        book(KEYS[5], reservation.model, reservation)
        kept(noted_key, ARGV[5])
      end
    end
  end
end

local call = ARGV[1]
if call ~= '' and (redis.call('HEXISTS', KEYS[1], call) == 1 or redis.call('HEXISTS', KEYS[6], call) == 1) then
  return {'reserved', '', 0}
end
local status, whose = refusal()
if status == 'busy' then
  end_overdue(KEYS[1], KEYS[6])
  status, whose = refusal()
end

if status then
  if status == 'busy' or ARGV[8] == '' then return {status, whose, 0} end
  redis.call('HSETNX', KEYS[7], ARGV[7], ARGV[8])
  redis.call('PEXPIRE', KEYS[7], ARGV[5])
  return {status, whose, redis.call('HGET', KEYS[7], ARGV[7]) == ARGV[8] and 1 or 0}
end
if call ~= '' then
  local reservation = cjson.decode(ARGV[2])
  reservation.ends = now + tonumber(ARGV[3])
  redis.call('HSET', KEYS[6], call, cjson.encode(reservation))
  change_sums(KEYS[6], reservation, 1)
  kept(KEYS[6], ARGV[5])
end
return {'reserved', '', 0}
