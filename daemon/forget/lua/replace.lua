-- Put other records in the place of listed ones: messages of a log, or what a scope's lists hold. Harmless when repeated
-- or late: what is to be replaced is named by its index and its checksum.
--
-- The journal of a turn that somebody holds is left alone: its holder has it in hand, and counts it at its commit.
--
-- KEYS  1 session or memory (hash)  2 log or other list
-- ARGV  1 field of the list's base  2 'log', or anything else, then for each record
--       1 index  2 SHA-1 of the record as it was  3 the new record  4 tokens that it counts less
-- Returns how many stand there now as they shall

local fields = redis.call('HMGET', KEYS[1], ARGV[1], 'head', 'cursor', 'start', 'tokens', 'tokens_start', 'nonce',
  'lease')
local base, head, is_log = tonumber(fields[1] or 0), tonumber(fields[2] or 0), ARGV[2] == 'log'
local time = redis.call('TIME')
local is_held = fields[7] and tonumber(fields[8] or 0) > time[1] * 1000 + math.floor(time[2] / 1000)
local done, less, less_start, replaced = 0, 0, 0, false

for at = 3, #ARGV, 4 do
  local index = tonumber(ARGV[at])
  local stored = index >= base and redis.call('LINDEX', KEYS[2], index - base)
  if stored == ARGV[at + 2] then
    done = done + 1
  elseif stored and redis.sha1hex(stored) == ARGV[at + 1] and not (is_log and is_held and index >= head) then
    redis.call('LSET', KEYS[2], index - base, ARGV[at + 2])
    done, replaced = done + 1, true
    -- What stands beyond the head is counted when it is committed.
    if index < head then
      if index >= tonumber(fields[3] or 0) then less = less + ARGV[at + 3] end
      if index >= tonumber(fields[4] or 0) then less_start = less_start + ARGV[at + 3] end
    end
  end
end
-- Whoever keeps a copy of the log reads it anew.
if is_log and replaced then redis.call('HINCRBY', KEYS[1], 'replaced', 1) end
if is_log and less ~= 0 then redis.call('HSET', KEYS[1], 'tokens', math.max(0, tonumber(fields[5] or 0) - less)) end
if is_log and less_start ~= 0 then
  redis.call('HSET', KEYS[1], 'tokens_start', math.max(0, tonumber(fields[6] or 0) - less_start))
end
return done
