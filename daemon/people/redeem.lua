-- Use a code up, which can be done once: it becomes a link request that both chats answer. Codes that are wrong are
-- counted.
--
-- KEYS  1 pair (hash)  2 tries (hash): messages of a person's that held a wrong code
--       3 linking (hash) of the maker  4 linking (hash) of whoever uses it
-- ARGV  1 the code  2 who uses it: session and id of the message  3 bot  4 scope of the maker, as it was read before
--       5 scope of whoever uses it  6 the chat that it is used in (JSON)  7 name  8 most wrong ones
--       9 TTL of tries (ms)  10 TTL of the request (ms)  11... the scopes that share a memory with whoever uses it
-- Returns 'asked' (also when it arrives twice), 'own' (it is for another chat), 'bot' (another bot's), 'busy' (whoever
--   uses it has an open link request), 'old' (made by an earlier version), 'wrong' or 'often' (too many wrong ones)

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
