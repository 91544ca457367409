-- Use a code once. The code becomes a link request, which both chats answer. Wrong codes are counted.
--
-- KEYS  1 pair (hash)  2 tries (hash): messages of a person with a wrong code
--       3 linking (hash) of the maker  4 linking (hash) of the sender
-- ARGV  1 the code  2 session and ID of the message with the code  3 bot  4 scope of the maker, as read before
--       5 scope of the sender  6 chat of the sender (JSON)  7 name of the sender  8 maximum of wrong codes
--       9 TTL of tries (ms)  10 TTL of the request (ms)  11... scopes that share a memory with the sender
-- Returns 'asked' (also if this call is repeated), 'own' (code of the sender's own memory), 'bot' (another bot's code),
--   'busy' (the sender has an open link request), 'old' (code of an earlier version), 'wrong' or 'often' (too many
--   wrong codes)

local maker, bot, used, old = unpack(redis.call('HMGET', KEYS[1], 'maker', 'bot', 'used', 'scope'))
if maker and used == ARGV[2] then return 'asked' end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[8]) then return 'often' end
if old and not maker then return 'old' end
if maker ~= ARGV[4] or used or redis.call('HGET', KEYS[3], 'code') ~= ARGV[1] then
  redis.call('HSET', KEYS[2], ARGV[2], '1')
  redis.call('PEXPIRE', KEYS[2], ARGV[9])
  return 'wrong'
end
if bot ~= ARGV[3] then return 'bot' end
for at = 11, #ARGV do
  if ARGV[at] == maker then return 'own' end
end
if redis.call('HEXISTS', KEYS[4], 'open') == 1 then return 'busy' end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'used', ARGV[2], 'member', ARGV[5], 'member_chat', ARGV[6], 'member_name', ARGV[7],
  'since', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[3], 'open', '1')
redis.call('DEL', KEYS[4])
redis.call('HSET', KEYS[4], 'code', ARGV[1], 'side', 'member', 'open', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[10])
redis.call('PEXPIRE', KEYS[3], ARGV[10])
redis.call('PEXPIRE', KEYS[4], ARGV[10])
return 'asked'
