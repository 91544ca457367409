-- The reminders of a partition whose time has come.
--
-- KEYS  1 upcoming (zset)
-- ARGV  1 how many at most
-- Returns {now (ms), ms until the next one or -1, member, ...}, the longest overdue first

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local later = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local found = {now, later[2] and math.max(0, tonumber(later[2]) - now) or -1}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])) do
  found[#found + 1] = member
end
return found
