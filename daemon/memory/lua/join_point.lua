-- A memory that is a part of one which has itself become a part of another: it points there. Harmless when repeated or
-- late.
--
-- KEYS  1 memory (hash)
-- ARGV  1 scope that it points to  2 scope that it is to point to  3 the job that has made it a part
-- Returns 'done', or 'stale' (it points elsewhere)

local joined, by = unpack(redis.call('HMGET', KEYS[1], 'joined', 'joined_by'))
if by ~= ARGV[3] then return 'stale' end
if joined == ARGV[1] then redis.call('HSET', KEYS[1], 'joined', ARGV[2]) end
return (joined == ARGV[1] or joined == ARGV[2]) and 'done' or 'stale'
