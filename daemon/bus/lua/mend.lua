-- Give a deadline back to sessions that lost theirs: waiting <=> the session stands in due, unless a hand took it out.
--
-- A message whose session is never woken stays in the stream until it is among the oldest, so those are enough to look at.
-- Where it only waits for an answer aside, or for a commit that is under way, the claim that follows finds nothing.
--
-- KEYS  1 in (stream)  2 due (zset)
-- ARGV  1 how many messages to look at
-- Returns how many sessions have a deadline again

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local mended = 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[1])) do
  mended = mended + redis.call('ZADD', KEYS[2], 'NX', now, entry[2][2])
end
return mended
