-- List a segment whose file is on the disk: from then on its messages need not stay in Redis.
--
-- Only what the log holds is listed: its last message is compared, for after a failover that lost messages the same
-- range can hold others, and whoever archived the old ones may come late. No lock is asked for: what is listed is true
-- whoever lists it.
--
-- KEYS  1 session (hash)  2 log (list)  3 segments (list)
-- ARGV  1 first  2 upto  3 the segment (JSON, begins with its range)  4 its last message, as the log holds it
-- Returns the segment that is listed for the range (JSON), or '' when the log does not hold these messages

local prefix = '{"first":' .. ARGV[1] .. ',"upto":' .. ARGV[2] .. ','
local listed, place = '', nil
for at, segment in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
  if string.sub(segment, 1, #prefix) == prefix then listed, place = segment, at - 1 end
end
local checksum = string.match(ARGV[3], '"checksum":"%x+"')
if place and string.find(listed, checksum, 1, true) then return listed end

local upto, base = tonumber(ARGV[2]), tonumber(redis.call('HGET', KEYS[1], 'base') or 0)
if upto > tonumber(redis.call('HGET', KEYS[1], 'head') or 0) then return '' end
if upto <= base or redis.call('LINDEX', KEYS[2], upto - 1 - base) ~= ARGV[4] then return '' end

if place then
  redis.call('LSET', KEYS[3], place, ARGV[3])
else
  redis.call('RPUSH', KEYS[3], ARGV[3])
end
return ARGV[3]
