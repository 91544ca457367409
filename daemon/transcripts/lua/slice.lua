-- Read a part of a session's log together with where the log begins: the two can move apart between two commands.
-- Changes nothing.
--
-- KEYS  1 session (hash)  2 log (list)
-- ARGV  1 index of the first message  2 one past the last, at most so many as a script should give at once
-- Returns {base, begins, head, ...}: the messages from the first on as far as there are any, those beyond the head (the
--   journal) too; none when the first is no longer in the log

local fields = redis.call('HMGET', KEYS[1], 'base', 'begins', 'head')
local base, first, upto = tonumber(fields[1] or 0), tonumber(ARGV[1]), tonumber(ARGV[2])
local found = {base, tonumber(fields[2] or 0), tonumber(fields[3] or 0)}
if first < base or upto <= first then return found end
for _, entry in ipairs(redis.call('LRANGE', KEYS[2], first - base, upto - base - 1)) do found[#found + 1] = entry end
return found
