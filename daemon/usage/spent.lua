-- Whether a limit of tokens a day is used up, and whether it is this message whose people are to be told so.
--
-- KEYS  1 told (hash)  2 of bots (hash)  3 of persons (hash)  4 of sessions (hash)  5 noted (hash)
-- ARGV  1 session  2 the message  3 TTL of told (ms)
--       4 name of the bot   5 its limit   6 name of the person   7 its limit   8 name of the session   9 its limit
--       (a limit of 0: none)
--       10... what the caller has noted and not seen taken, four each: name of the note, tokens of the bot, the person, the session
-- Returns {'', 0}, or whose limit is used up ('chat', 'person', 'bot') and 1 for the first message of the session that
--   it concerns today: the same again for that one, also by this very call

local kept = {0, 0, 0}
for at = 10, #ARGV, 4 do
  if redis.call('HEXISTS', KEYS[5], ARGV[at]) == 0 then
    for whose = 1, 3 do kept[whose] = kept[whose] + tonumber(ARGV[at + whose]) end
  end
end

local function used_up(account_key, name, limit, not_written)
  if limit == 0 then return false end
  local found = redis.call('HMGET', account_key, name .. ' in', name .. ' out')
  return tonumber(found[1] or '0') + tonumber(found[2] or '0') + not_written >= limit
end

local whose = ''
if used_up(KEYS[2], ARGV[4], tonumber(ARGV[5]), kept[1]) then whose = 'bot' end
if used_up(KEYS[3], ARGV[6], tonumber(ARGV[7]), kept[2]) then whose = 'person' end
if used_up(KEYS[4], ARGV[8], tonumber(ARGV[9]), kept[3]) then whose = 'chat' end
if whose == '' then return {'', 0} end

redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return {whose, 1} end
return {whose, 0}
