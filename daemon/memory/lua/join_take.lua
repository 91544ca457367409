-- Take a piece of another memory's history or notes in, behind what is there. Harmless when repeated or late: it names
-- the piece.
--
-- KEYS  1 memory (hash)  2 history or notes (list)  3 undigested (list)
-- ARGV  1 job  2 scope of the other memory  3 'history' or 'notes'  4 index in the other's list where the piece begins
--       5 one past its last, then for each record that is not here yet  1 '1' when MEMORY.md is still to learn it, or ''
--       2 the record (JSON)
-- Returns 'done' (also when it was taken before), or 'stale': the job is over, or the piece does not come next

if redis.call('HGET', KEYS[1], 'receiving') ~= ARGV[1] then return 'stale' end
local kind, from, upto, field = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), 'links:' .. ARGV[2]
local link = cjson.decode(redis.call('HGET', KEYS[1], field) or '{}')
if link.job ~= ARGV[1] then link = {job = ARGV[1]} end
local at = link[kind] or 0
if at >= upto and upto > from then return 'done' end
if at ~= from then return 'stale' end

local base = tonumber(redis.call('HGET', KEYS[1], kind .. '_base') or 0)
for number = 6, #ARGV, 2 do
  local index = base + redis.call('RPUSH', KEYS[2], ARGV[number + 1]) - 1
  if ARGV[number] ~= '' then redis.call('RPUSH', KEYS[3], index) end
end
link[kind] = upto
redis.call('HSET', KEYS[1], field, cjson.encode(link))
return 'done'
