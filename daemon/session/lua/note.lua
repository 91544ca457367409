-- Note how many attempts in a row have brought no summary, the one that begins counted: one that kills its worker
-- counts too. Or that a cycle is flushed, which is done at most once, or that its flush has failed. Or the finished parts of a turn that takes several
-- requests.
--
-- KEYS  1 session (hash)  2 lock (hash)
-- ARGV  1 nonce  2 'failures', 'digests', 'flushed', 'flush_failed', 'unflushed', 'digest_at' or
--       'parts'  3 its value; '' removes it
-- Returns 'done' or 'stale'

if redis.call('HGET', KEYS[2], 'nonce') ~= ARGV[1] then return 'stale' end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[2])
else
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
end
return 'done'
