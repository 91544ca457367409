-- Create a code with which another chat can ask for a link. A random code that already exists is refused. A new code
-- replaces the earlier code of the person.
--
-- KEYS  1 pair (hash)  2 linking (hash) of the maker
-- ARGV  1 scope of the maker  2 bot  3 chat of the maker (JSON)  4 name of the maker
--       5 ID of the job that links the two  6 the code  7 TTL (ms)
-- Returns 'made' (also if this call is repeated), 'taken', or 'open': the maker has an open link request

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
