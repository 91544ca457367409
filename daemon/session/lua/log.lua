-- Read a part of a session's log together with where the log begins: messages may leave it between two commands.
-- Changes nothing.
--
-- KEYS  1 session (hash)  2 log (list)
-- ARGV  1 index of the first message  2 one past the last
-- Returns {base, ...}: the messages as far as there are any; none when the first has left Redis

local base, first, upto = tonumber(redis.call('HGET', KEYS[1], 'base') or 0), tonumber(ARGV[1]), tonumber(ARGV[2])
local found = {base}
if first < base or upto <= first then return found end
for _, entry in ipairs(redis.call('LRANGE', KEYS[2], first - base, upto - base - 1)) do found[#found + 1] = entry end
return found
