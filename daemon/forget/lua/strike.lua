-- Take entries out of a stream, and with them what the server keeps of entries that were taken out before: it marks an
-- entry as deleted and leaves its text until all around it are deleted too, in memory and in what it writes to its disk.
-- So the stream is put together anew, under the same ids. Harmless when repeated or late: ids never come again.
--
-- KEYS  1 stream without groups  2 waiting (list) of the session, or the stream again  3 asides (zset), or the stream again
-- ARGV  1 most entries that are put together anew  2 session, or ''; then the stream ids
-- Returns {how many were taken out, 1 when the stream was put together anew; else 0, it is too long}

local gone = 0
for at = 3, #ARGV do
  gone = gone + redis.call('XDEL', KEYS[1], ARGV[at])
  if ARGV[2] ~= '' then
    redis.call('LREM', KEYS[2], 0, ARGV[at])
    redis.call('ZREM', KEYS[3], ARGV[2] .. ' ' .. ARGV[at])
  end
end
local length = redis.call('XLEN', KEYS[1])
if length > tonumber(ARGV[1]) then return {gone, 0} end
-- Of an empty one nothing is left.
if length == 0 then return {gone, 1} end

local ttl = redis.call('PTTL', KEYS[1])
local entries = redis.call('XRANGE', KEYS[1], '-', '+')
-- The newest id goes on: none is ever given twice.
local last = redis.call('XADD', KEYS[1], '*', 'x', '')
redis.call('DEL', KEYS[1])
for _, entry in ipairs(entries) do redis.call('XADD', KEYS[1], entry[1], unpack(entry[2])) end
redis.call('XSETID', KEYS[1], last)
if ttl > 0 then redis.call('PEXPIRE', KEYS[1], ttl) end
return {gone, 1}
