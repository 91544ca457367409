-- Put a part of the messages that are to become a session's log where nobody sees them yet; they are gone after a while
-- unless restore.lua takes them. Harmless when repeated or late: it names the position.
--
-- KEYS  1 restoring (list)
-- ARGV  1 how many stand there already  2 TTL (ms)  then the messages (JSON)
-- Returns 'done' (also when this very command had arrived before) or 'elsewhere' (another number of them stands there)

local there, at, count = redis.call('LLEN', KEYS[1]), tonumber(ARGV[1]), #ARGV - 2
if there ~= at and there ~= at + count then return 'elsewhere' end
if there == at then
  for from = 3, #ARGV, 1000 do redis.call('RPUSH', KEYS[1], unpack(ARGV, from, math.min(from + 999, #ARGV))) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'done'
