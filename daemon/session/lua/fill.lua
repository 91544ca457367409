-- Write a whole conversation into a session that does not exist yet, as its turns would have left it.
--
-- KEYS  1 session (hash)  2 log (list)  3 unsettled (zset)  4 grew (stream)
-- ARGV  1 session key  2 nonce  3 scope  4 tokens of all entries  5 most grew events kept  6 events channel
--       then the entries (JSON)
-- Returns 'done' (also when this very command had arrived before) or 'taken' (there is such a session already)

local session, name = ARGV[1], '0 ' .. ARGV[2]
if redis.call('HGET', KEYS[1], 'done') == name then return 'done' end
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 'taken' end

local head = 0
for at = 7, #ARGV, 1000 do
  head = redis.call('RPUSH', KEYS[2], unpack(ARGV, at, math.min(at + 999, #ARGV)))
end
redis.call('HSET', KEYS[1], 'base', 0, 'cursor', 0, 'start', 0, 'head', head, 'tokens', ARGV[4], 'tokens_start', ARGV[4],
  'fence', 0, 'claims', 0, 'attempts', 0, 'scope', ARGV[3], 'done', name)
local time = redis.call('TIME')
-- Whether there is anything to settle the consolidator finds out.
redis.call('ZADD', KEYS[3], time[1] * 1000 + math.floor(time[2] / 1000), session)
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[5], '*', 'event',
  '{"type":"session-grew","session":"' .. session .. '","head":' .. head .. '}')
redis.call('PUBLISH', ARGV[6], '{"type":"moved","session":"' .. session .. '","head":' .. head .. ',"cursor":0}')
return 'done'
