-- Make a session of messages that were kept for it, as if they had just been said. All or nothing; harmless when repeated.
--
-- KEYS  1 session (hash)  2 log (list)  3 restoring (list)  4 unsettled (zset)  5 grew (stream)
-- ARGV  1 session key  2 nonce  3 scope  4 index of the first message  5 how many there are  6 their tokens
--       from the cursor on  7 most grew events kept  8 events channel  9 cursor  10 start  11 tokens from the start on
--       then more fields of the session, each with its value
-- Returns 'done' (also when this very command had arrived before), 'taken' (there is such a session already) or 'gone'
--   (not all of the messages are there any more)

local session, name = ARGV[1], '0 ' .. ARGV[2]
if redis.call('HGET', KEYS[1], 'done') == name then return 'done' end
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 'taken' end
if redis.call('LLEN', KEYS[3]) ~= tonumber(ARGV[5]) then return 'gone' end

local first, head = tonumber(ARGV[4]), ARGV[4] + ARGV[5]
redis.call('RENAME', KEYS[3], KEYS[2])
redis.call('PERSIST', KEYS[2])
-- Nobody is to look in an archive for what lies before its first message.
if first > 0 then redis.call('HSET', KEYS[1], 'begins', first) end
redis.call('HSET', KEYS[1], 'base', first, 'cursor', ARGV[9], 'start', ARGV[10], 'head', head,
  'tokens', ARGV[6], 'tokens_start', ARGV[11], 'fence', 0, 'claims', 0, 'attempts', 0, 'scope', ARGV[3], 'done', name,
  unpack(ARGV, 12))
local time = redis.call('TIME')
-- Whether there is anything to settle the consolidator finds out.
redis.call('ZADD', KEYS[4], time[1] * 1000 + math.floor(time[2] / 1000), session)
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ARGV[7], '*', 'event',
  '{"type":"session-grew","session":"' .. session .. '","head":' .. head .. '}')
redis.call('PUBLISH', ARGV[8], '{"type":"moved","session":"' .. session .. '","head":' .. head .. ',"cursor":' .. ARGV[9] .. '}')
return 'done'
