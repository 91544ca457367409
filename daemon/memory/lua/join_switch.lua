-- From now on a memory is another one's. What it holds itself stays as it is, for the day on which they part.
-- Harmless when repeated or late: only the job that marked it can.
--
-- KEYS  1 memory (hash)
-- ARGV  1 job  2 scope of the memory that it becomes a part of  3... fields of sessions, which are kept there now
-- Returns 'done' (also when it was done before), or 'stale'

local joined, joining = unpack(redis.call('HMGET', KEYS[1], 'joined', 'joining'))
if joined == ARGV[2] then return 'done' end
if joined or joining ~= ARGV[1] then return 'stale' end
redis.call('HSET', KEYS[1], 'joined', ARGV[2], 'joined_by', ARGV[1])
redis.call('HDEL', KEYS[1], 'joining')
for at = 3, #ARGV do redis.call('HDEL', KEYS[1], ARGV[at]) end
return 'done'
