-- Wake every session whose deadline (of its wake-up, lease, retry or debounce) has passed.
--
-- Waiting <=> the session stands in due, so this alone heals whatever a crash left behind. A deadline further off than
-- the longest allowed one is overdue too: the server's clock was set back.
--
-- KEYS  1 due (zset)  2 ready (zset)
-- ARGV  1 wake-up (ms)  2 longest deadline (ms)  3 how many at most
-- Returns {how many were woken, ms until the next deadline or -1}

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most = tonumber(ARGV[3])

local woken = 0
local function wake(sessions)
  for _, session in ipairs(sessions) do
    -- Not later than it stands there: but with a place from before the clock was set back, others would overtake it.
    redis.call('ZADD', KEYS[2], 'LT', now, session)
    redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), session)
    woken = woken + 1
  end
end
wake(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, most))
wake(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. (now + tonumber(ARGV[2])), '+inf', 'LIMIT', 0, most))

local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not first[2] then return {woken, -1} end
return {woken, math.max(0, tonumber(first[2]) - now)}
