-- From now on a memory is its own again. Harmless when repeated or late: only the job that gave it back what is its can.
--
-- KEYS  1 memory (hash)
-- ARGV  1 job  2 the job that had made it a part, which is not to come again  3... fields of its sessions and their values
-- Returns 'done' (also when it was done before), or 'stale'

local by, leaving = unpack(redis.call('HMGET', KEYS[1], 'joined_by', 'leaving'))
if not by then return 'done' end
if by ~= ARGV[2] or not leaving or cjson.decode(leaving).job ~= ARGV[1] then return 'stale' end
for at = 3, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
-- Its prompts show its own text at once.
redis.call('HSET', KEYS[1], 'last_job', ARGV[2], 'pinned', redis.call('HGET', KEYS[1], 'version') or 0)
redis.call('HDEL', KEYS[1], 'joined', 'joined_by', 'leaving')
return 'done'
