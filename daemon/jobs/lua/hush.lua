-- Drop what a job needed and nobody is to read, before it has ended. Harmless when repeated or late.
--
-- KEYS  1 job (hash)
-- ARGV  1 nonce
-- Returns 'done', or 'lost': somebody else has the job, or it has ended

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 'lost' end
redis.call('HDEL', KEYS[1], 'secret')
return 'done'
