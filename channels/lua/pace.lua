-- Take room for messages to chats out of the buckets of their platform: for each out of all of its buckets, or none.
-- A bucket is the list of times (ms) at which its last messages were let through, newest first: so in no stretch of its
-- time there are more than its count. One that comes twice, or late, makes others wait, and lets nothing more through.
--
-- KEYS  1 names the platform and is never there: what is asked of two platforms lies in two slots, and is not asked together
--       then for each chat its buckets (list)
-- ARGV  1 packed, for each chat: 1 how many buckets, then for each bucket:
--         1 count  2 in how many ms  3 for how many messages room has to be left
-- Returns for each chat {ms to wait, the number of the bucket that has to be waited for}; 0 and 0: taken

local FIELDS = 3
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- When there is room in a bucket for one message more than have to be left.
local function free_at(bucket_key, count, within, spare)
  local newest = redis.call('LINDEX', bucket_key, 0)
  -- What was let through in the future was so before the clock was set back.
  if newest and tonumber(newest) > now then
    redis.call('DEL', bucket_key)
    return 0
  end
  local oldest = redis.call('LINDEX', bucket_key, math.max(count - spare, 1) - 1)
  return oldest and oldest + within or 0
end

local function let_through(bucket_key, count, within)
  redis.call('LPUSH', bucket_key, now)
  redis.call('LTRIM', bucket_key, 0, count - 1)
  redis.call('PEXPIRE', bucket_key, 2 * within)
end

local asked, results, at_key, at = cmsgpack.unpack(ARGV[1]), {}, 1, 1
while at <= #asked do
  local buckets = asked[at]
  local wait, slowest = 0, 0
  for number = 1, buckets do
    local count, within, spare = unpack(asked, at + FIELDS * (number - 1) + 1, at + FIELDS * number)
    local left = free_at(KEYS[at_key + number], count, within, spare) - now
    if left > wait then wait, slowest = left, number end
  end
  if wait == 0 then
    for number = 1, buckets do
      local count, within = unpack(asked, at + FIELDS * (number - 1) + 1, at + FIELDS * number)
      let_through(KEYS[at_key + number], count, within)
    end
  end
  results[#results + 1] = {wait, slowest}
  at_key, at = at_key + buckets, at + 1 + FIELDS * buckets
end
return results
