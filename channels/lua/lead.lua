-- Become or stay the one that sends what is in out: a lease with a rising fence and a random nonce.
--
-- KEYS  1 leader (hash)
-- ARGV  1 nonce  2 the fence that was seen last, or -1 to take nothing and only renew  3 lease (ms)  4 name of the process
--       5 how many leases the process holds  6 how long its wish for this one counts (ms)
-- Returns {status, fence, ms until the lease ends, how many leases somebody else holds who wishes for it, or -1: nobody}
--   held  it is the caller's; also when this call had arrived before
--   free  nobody's, but the fence is not the one that was seen: call again with this one. A late copy of a call that was
--         obeyed and whose lease was given back since takes nothing
--   busy  somebody else's

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[3])
local fence = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')

-- Of those who wish for it, the one that holds the fewest.
local wish = tonumber(redis.call('HGET', KEYS[1], 'wish') or '-1')
local wish_left = tonumber(redis.call('HGET', KEYS[1], 'wish_until') or '0') - now
if wish_left <= 0 or wish_left > tonumber(ARGV[6]) then wish = -1 end

if redis.call('HGET', KEYS[1], 'nonce') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'deadline', now + lease)
  return {'held', fence, lease, wish}
end
-- A deadline further off than any lease shows that the server's clock was set back.
local left = tonumber(redis.call('HGET', KEYS[1], 'deadline') or '0') - now
if left > 0 and left <= 2 * lease then
  local led = tonumber(ARGV[5])
  if ARGV[2] ~= '-1' and (wish == -1 or led <= wish or redis.call('HGET', KEYS[1], 'wisher') == ARGV[4]) then
    redis.call('HSET', KEYS[1], 'wish', led, 'wish_until', now + ARGV[6], 'wisher', ARGV[4])
  end
  return {'busy', fence, left, -1}
end
if fence ~= tonumber(ARGV[2]) then return {'free', fence, 0, -1} end

redis.call('HSET', KEYS[1], 'fence', fence + 1, 'nonce', ARGV[1], 'deadline', now + lease, 'worker', ARGV[4])
redis.call('HDEL', KEYS[1], 'wish', 'wish_until', 'wisher')
return {'held', fence + 1, lease, -1}
