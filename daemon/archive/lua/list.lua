-- List a segment whose file is durable: from then on what it holds need not stay in Redis.
--
-- Only what the shelf's list holds is listed, all of it compared: after a failover that lost messages the same range can
-- hold others, and whoever archived the old ones may come late; and what was forgotten meanwhile must not come back. No
-- lock is asked for: what is listed is true whoever lists it.
--
-- KEYS  1 session or memory (hash)  2 log or other list  3 segments (list)  4 clearing (string)
-- ARGV  1 first  2 upto  3 the segment (JSON)  4 what that begins with: range, and kind if it is no log  5 SHA-1 of what
--       it holds, as Redis does, with a line feed behind each  6 field of the base  7 field of the head, or ''
-- Returns the segment that is listed for the range (JSON), '' when Redis does not hold these messages, or 'busy': files
--   that nothing lists are being deleted, maybe this one

local prefix, listed = ARGV[4], nil
for _, segment in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
  if string.sub(segment, 1, #prefix) == prefix then listed = segment end
end
local function part(segment, name) return string.match(segment, '"' .. name .. '":"(%x+)"') end
if listed and part(listed, 'checksum') == part(ARGV[3], 'checksum')
  and part(listed, 'archive') == part(ARGV[3], 'archive') then return listed end

local first, upto, base = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(redis.call('HGET', KEYS[1], ARGV[6]) or 0)
if first < base then return '' end
if ARGV[7] ~= '' and upto > tonumber(redis.call('HGET', KEYS[1], ARGV[7]) or 0) then return '' end
local held = redis.call('LRANGE', KEYS[2], first - base, upto - 1 - base)
if #held ~= upto - first then return '' end
held[#held + 1] = ''
if redis.sha1hex(table.concat(held, '\n')) ~= ARGV[5] then return '' end

if redis.call('EXISTS', KEYS[4]) == 1 then return 'busy' end
-- Behind all others: what is listed last is what is read.
if listed then redis.call('LREM', KEYS[3], 0, listed) end
redis.call('RPUSH', KEYS[3], ARGV[3])
return ARGV[3]
