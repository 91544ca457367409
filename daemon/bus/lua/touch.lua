-- Note the last activity of sessions in the index of sessions.
--
-- KEYS  1 sessions (zset)
-- ARGV  session keys
-- Returns the time noted (ms)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- In one call, as far as 'unpack' goes.
for first = 1, #ARGV, 1000 do
  local noted = {}
  for at = first, math.min(first + 999, #ARGV) do
    noted[#noted + 1] = now
    noted[#noted + 1] = ARGV[at]
  end
  redis.call('ZADD', KEYS[1], 'GT', unpack(noted))
end
return now
