-- Give a memory back a piece of what came of its sessions while it was a part of another one. Harmless when repeated or
-- late: it names the piece.
--
-- KEYS  1 memory (hash)  2 history or notes (list)  3 undigested (list)
-- ARGV  1 job  2 the job that has made it a part  3 'history' or 'notes'  4 index in the other's list where the piece
--       begins  5 one past its last, then for each record that is its own and not there yet  1 '1' when MEMORY.md is still
--       to learn it, or ''  2 the record (JSON)
-- Returns 'done' (also when it was given before), or 'stale': it is a part no more, or the piece does not come next

if redis.call('HGET', KEYS[1], 'joined_by') ~= ARGV[2] then return 'stale' end
local kind, from, upto = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local leaving = cjson.decode(redis.call('HGET', KEYS[1], 'leaving') or '{}')
if leaving.job ~= ARGV[1] then leaving = {job = ARGV[1]} end
local at = leaving[kind] or 0
if at >= upto and upto > from then return 'done' end
if at ~= from then return 'stale' end

local base = tonumber(redis.call('HGET', KEYS[1], kind .. '_base') or 0)
for number = 6, #ARGV, 2 do
  local index = base + redis.call('RPUSH', KEYS[2], ARGV[number + 1]) - 1
  if ARGV[number] ~= '' then redis.call('RPUSH', KEYS[3], index) end
end
leaving[kind] = upto
redis.call('HSET', KEYS[1], 'leaving', cjson.encode(leaving))
return 'done'
