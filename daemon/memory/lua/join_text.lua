-- Make of two MEMORY.md one, as a version. Harmless when repeated or late: it is done once a job.
--
-- KEYS  1 memory (hash)  2 versions (list)
-- ARGV  1 job  2 scope of the other memory  3 version that is to be current  4 its checksum
--       5 the version (JSON, no number and no text), or '' when nothing changes  6 its text
-- Returns 'done' (also when it was done before), 'moved' (another version is current) or 'stale' (the job is over)

if redis.call('HGET', KEYS[1], 'receiving') ~= ARGV[1] then return 'stale' end
local field, fields = 'links:' .. ARGV[2], fields_of(KEYS[1], '')
local link = cjson.decode(redis.call('HGET', KEYS[1], field) or '{}')
if link.job ~= ARGV[1] then link = {job = ARGV[1]} end
if link.text then return 'done' end
if fields.version ~= tonumber(ARGV[3]) or fields.checksum ~= ARGV[4] then return 'moved' end

link.text = fields.version
if ARGV[5] ~= '' then link.text = put(KEYS[1], KEYS[2], ARGV[5], ARGV[6]) end
redis.call('HSET', KEYS[1], field, cjson.encode(link))
return 'done'
