-- Take room for messages out of the buckets of a chat, a person and a bot: out of all of them or none.
-- A bucket holds as many messages as are allowed a minute, and fills up at that rate.
--
-- KEYS  1 of the chat (hash)  2 of the person (hash)  3 of the bot (hash)
-- ARGV  1 stream id of the first message  2 how many messages; 0: only look  3 the claim's name
--       4 limit of the chat  5 of the person  6 of the bot (messages a minute; 0: none)  7 TTL (ms)
--       8 'taken', or 'aside' for a command that is answered out of order: it is counted beside those of the chat that keep theirs
-- Returns {ms to wait, tell, room in the chat's bucket, the person's, the bot's}
--   wait 0: taken; also when it was taken before for this message, or a later one of the chat
--   tell 1: this claim is the first that has to wait, since there was room; the same again for that claim

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local wanted = tonumber(ARGV[2])

local function room(bucket_key, limit)
  local found = redis.call('HMGET', bucket_key, 'room', 'at')
  if not found[1] then return limit end
  -- A clock that was set back fills nothing, and takes nothing away.
  return math.min(limit, found[1] + math.max(0, now - found[2]) * limit / 60000)
end

local function put(bucket_key, left)
  redis.call('HSET', bucket_key, 'room', string.format('%.6f', left), 'at', now)
  redis.call('PEXPIRE', bucket_key, ARGV[7])
end

local function before_or_at(id, other)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  ms, seq, other_ms, other_seq = tonumber(ms), tonumber(seq), tonumber(other_ms), tonumber(other_seq)
  return ms < other_ms or (ms == other_ms and seq <= other_seq)
end

local limits = {tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])}
local left = {room(KEYS[1], limits[1]), room(KEYS[2], limits[2]), room(KEYS[3], limits[3])}
local function answer(wait, tell)
  return {math.ceil(wait), tell, math.floor(left[1]), math.floor(left[2]), math.floor(left[3])}
end
local taken = redis.call('HGET', KEYS[1], ARGV[8])
if wanted == 0 or (taken and before_or_at(ARGV[1], taken)) then return answer(0, 0) end

local wait, full = 0, true
for at = 1, 3 do
  if limits[at] > 0 then
    -- More at once than a bucket can hold are let in when it is full.
    local missing = math.min(wanted, limits[at]) - left[at]
    wait = math.max(wait, missing * 60000 / limits[at])
    full = full and left[at] == limits[at]
  end
end

if wait > 0 and ARGV[8] == 'aside' then return answer(wait, 1) end
if wait > 0 then
  redis.call('HSETNX', KEYS[1], 'told', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[7])
  return answer(wait, redis.call('HGET', KEYS[1], 'told') == ARGV[3] and 1 or 0)
end
-- Whoever waits is told once for a whole flood; it is over when there was room for all.
if full then redis.call('HDEL', KEYS[1], 'told') end
for at = 1, 3 do if limits[at] > 0 then left[at] = math.max(0, left[at] - wanted) end end
if limits[1] > 0 then put(KEYS[1], left[1]) end
if limits[2] > 0 then put(KEYS[2], left[2]) end
if limits[3] > 0 then put(KEYS[3], left[3]) end
redis.call('HSET', KEYS[1], ARGV[8], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return answer(0, 0)
