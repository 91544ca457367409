-- Make a code by which another chat links itself. A code is drawn at random: one that is there already is refused.
--
-- KEYS  1 pair (hash)
-- ARGV  1 scope  2 bot  3 the chat that it was made in (JSON)  4 id of the link it stands for  5 TTL (ms)
-- Returns 'made' (also when this very call had arrived before), or 'taken'

local link = redis.call('HGET', KEYS[1], 'link')
if link then return link == ARGV[4] and 'made' or 'taken' end
redis.call('HSET', KEYS[1], 'scope', ARGV[1], 'bot', ARGV[2], 'chat', ARGV[3], 'link', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 'made'
