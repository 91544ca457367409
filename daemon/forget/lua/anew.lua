-- The files that show the lists of a memory are written again: a text in them was forgotten, be it in the archive.
-- Repeated, they are written once more.
--
-- KEYS  1 memory (hash)
-- ARGV  none
-- Returns 1, or 0 for a memory that there is not

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'forgets', 1)
return 1
