-- Approve or deny a command that waits. Harmless when repeated.
--
-- KEYS  1 approval (hash)
-- ARGV  1 bot  2 'approved' or 'denied'  3 who decides  4 stream id of the decision
-- Returns {'done', 'none' (there is no such command of this bot), or its state: 'approved', 'started', 'denied' or
-- 'expired', name of the call}

local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local found = redis.call('HMGET', KEYS[1], 'state', 'bot', 'call', 'ends', 'at')
if found[2] ~= ARGV[1] then return {'none', ''} end
if found[5] == ARGV[4] then return {'done', found[3]} end
if found[1] ~= 'waiting' then return {found[1], found[3]} end
if tonumber(found[4]) <= now then
  redis.call('HSET', KEYS[1], 'state', 'expired')
  return {'expired', found[3]}
end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'by', ARGV[3], 'at', ARGV[4])
return {'done', found[3]}
