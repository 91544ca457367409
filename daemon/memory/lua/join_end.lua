-- A job is done with the memory that stays: others may join or part it. Harmless when repeated or late.
--
-- KEYS  1 memory (hash)
-- ARGV  1 job  2 how many fields are removed: what is another memory's again  3... these, then fields and values: what
--       it has of memories that were parts of the one that it took over
-- Returns 'done'

if redis.call('HGET', KEYS[1], 'receiving') ~= ARGV[1] then return 'done' end
local removed = tonumber(ARGV[2])
for at = 3, 2 + removed do redis.call('HDEL', KEYS[1], ARGV[at]) end
for at = 3 + removed, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
redis.call('HDEL', KEYS[1], 'receiving')
redis.call('HSET', KEYS[1], 'last_job', ARGV[1])
return 'done'
