-- Make a code by which another chat asks to be linked. A code is drawn at random: one that is there already is refused.
-- A person has one code: a new code replaces the earlier one.
--
-- KEYS  1 pair (hash)  2 linking (hash) of the maker
-- ARGV  1 scope of the maker  2 bot  3 the chat that it was made in (JSON)  4 name of the maker
--       5 id of the link it stands for  6 the code  7 TTL (ms)
-- Returns 'made' (also when this very call had arrived before), 'taken', or 'open': the maker has an open link request

local link = redis.call('HGET', KEYS[1], 'link')
if link then return link == ARGV[5] and 'made' or 'taken' end
if redis.call('HEXISTS', KEYS[2], 'open') == 1 then return 'open' end
redis.call('HSET', KEYS[1], 'maker', ARGV[1], 'bot', ARGV[2], 'maker_chat', ARGV[3], 'maker_name', ARGV[4],
  'link', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'code', ARGV[6], 'side', 'maker')
redis.call('PEXPIRE', KEYS[2], ARGV[7])
return 'made'
