-- Append finished steps of the turn in progress to the log, beyond head.
--
-- KEYS  1 session (hash)  2 log (list)
-- ARGV  1 nonce  2 turn (the head it began at)  3 step (journal entries before these)  4... entries (JSON)
-- Returns 'done' (also when these very steps stand there already) or 'stale' (another holder or another position)

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 'stale' end
local head = tonumber(redis.call('HGET', KEYS[1], 'head'))
if head ~= tonumber(ARGV[2]) then return 'stale' end
local step = tonumber(redis.call('HGET', KEYS[1], 'base') or 0) + redis.call('LLEN', KEYS[2]) - head
local first, count = tonumber(ARGV[3]), #ARGV - 3
if step == first + count and redis.call('LINDEX', KEYS[2], -1) == ARGV[#ARGV] then return 'done' end
if step ~= first then return 'stale' end

for at = 4, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
-- A journalled step is progress: attempts and deaths are counted since.
redis.call('HSET', KEYS[1], 'attempts', 0)
redis.call('HDEL', KEYS[1], 'deaths')
return 'done'
