-- Keep how far a job has come, and extend its lease; or extend the lease alone. Harmless when repeated or late: it is
-- numbered.
--
-- KEYS  1 job (hash)  2 jobs (zset)
-- ARGV  1 id  2 nonce  3 lease (ms)  4 number of this save, counted from 1 over all who have had the job; '' only renews
--       5 state (JSON)
-- Returns 'held', or 'lost': somebody else has the job, or it has ended

local fields = redis.call('HMGET', KEYS[1], 'nonce', 'step')
if fields[1] ~= ARGV[2] then return 'lost' end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3], ARGV[1])
if ARGV[4] ~= '' and tonumber(ARGV[4]) > tonumber(fields[2] or 0) then
  redis.call('HSET', KEYS[1], 'step', ARGV[4], 'state', ARGV[5])
  redis.call('HDEL', KEYS[1], 'attempts', 'reason')
end
return 'held'
