-- Use a code up, which can be done once; and count those that are wrong.
--
-- KEYS  1 pair (hash)  2 tries (hash): messages of a person's that held a wrong code
-- ARGV  1 who uses it: session and id of the message  2 bot  3 most wrong ones  4 TTL of tries (ms)
--       5... the scopes that share a memory with whoever uses it
-- Returns {'used', scope, chat (JSON), id of the link} (also when it arrives twice), {'own'} (it is for another chat),
--   {'bot'} (another bot's), {'wrong'} or {'often'} (too many wrong ones)

local scope, bot, chat, link, used =
  unpack(redis.call('HMGET', KEYS[1], 'scope', 'bot', 'chat', 'link', 'used'))
if scope and used == ARGV[1] then return {'used', scope, chat, link} end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then return {'often'} end
if not scope or used then
  redis.call('HSET', KEYS[2], ARGV[1], '1')
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  return {'wrong'}
end
if bot ~= ARGV[2] then return {'bot'} end
for at = 5, #ARGV do
  if ARGV[at] == scope then return {'own'} end
end
redis.call('HSET', KEYS[1], 'used', ARGV[1])
return {'used', scope, chat, link}
