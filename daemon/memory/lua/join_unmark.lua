-- Give a memory back that a job has marked and not touched. Harmless when repeated or late: the job marks it again.
--
-- KEYS  1 memory (hash)
-- ARGV  1 'joining' or 'receiving'  2 job
-- Returns 'done'

if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 'done'
