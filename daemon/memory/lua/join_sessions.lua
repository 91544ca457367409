-- Take over what another memory keeps of its sessions: how far each was taken in. Harmless when repeated or late: it is
-- done once a job.
--
-- KEYS  1 memory (hash)
-- ARGV  1 job  2 scope of the other memory  3... fields and values
-- Returns 'done' (also when it was done before), or 'stale' (the job is over)

if redis.call('HGET', KEYS[1], 'receiving') ~= ARGV[1] then return 'stale' end
local field = 'links:' .. ARGV[2]
local link = cjson.decode(redis.call('HGET', KEYS[1], field) or '{}')
if link.job ~= ARGV[1] then link = {job = ARGV[1]} end
if link.sessions then return 'done' end

for at = 3, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
link.sessions = true
redis.call('HSET', KEYS[1], field, cjson.encode(link))
return 'done'
