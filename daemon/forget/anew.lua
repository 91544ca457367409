-- What shows the lists of a memory as files is written anew: something in them was forgotten, be it in the archive. And
-- no prompt shows an older version any more, in which it may have stood.
-- Repeated, it is written anew once more.
--
-- KEYS  1 memory (hash)
-- ARGV  none
-- Returns 1, or 0 for a memory that there is not

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'forgets', 1)
redis.call('HSET', KEYS[1], 'pinned', redis.call('HGET', KEYS[1], 'version') or 0)
return 1
