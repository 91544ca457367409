-- Ask for the approval of a command, or learn of it; the first to ask after it was given is to run the command. Harmless
-- when repeated.
--
-- KEYS  1 approval (hash)
-- ARGV  1 bot  2 name of the call  3 how long it may take to be approved (ms)  4 TTL beyond that (ms)  5 who asks
-- Returns {'asked' (just now), 'waiting', 'run', 'started' (by another one), 'denied' or 'expired', who decided,
-- ms that are left}

local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'state', 'waiting', 'bot', ARGV[1], 'call', ARGV[2],
    'ends', string.format('%.0f', now + ARGV[3]))
  redis.call('PEXPIRE', KEYS[1], ARGV[3] + ARGV[4])
  return {'asked', '', ARGV[3]}
end
local found = redis.call('HMGET', KEYS[1], 'state', 'by', 'ends', 'starter')
local state, left = found[1], tonumber(found[3]) - now
if state == 'approved' then
  redis.call('HSET', KEYS[1], 'state', 'started', 'starter', ARGV[5])
  state = 'run'
elseif state == 'started' and found[4] == ARGV[5] then
  state = 'run'
elseif state == 'waiting' and left <= 0 then
  redis.call('HSET', KEYS[1], 'state', 'expired')
  state = 'expired'
end
return {state, found[2] or '', string.format('%.0f', math.max(left, 0))}
