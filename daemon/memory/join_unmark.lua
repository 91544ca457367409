-- Give a memory back that a job has marked and not touched. Harmless when repeated or late: the job marks it again.
--
-- KEYS  1 memory (hash)
-- ARGV  1 'joining' or 'receiving'  2 job  3 '1': for good, the job will not come again
-- Returns 'done'

if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
if ARGV[3] ~= '' and redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'last_job', ARGV[2]) end
return 'done'
