-- Commit a turn: its last entries, head over everything, the reply, session-grew, and what it answered is no longer
-- waiting; then go on with the session's next message or let it go. Harmless when repeated or late: it names its turn.
--
-- KEYS  1 session (hash)  2 log (list)    3 waiting (list)  4 in (stream)  5 ready (zset)  6 due (zset)
--       7 live (string)   8 grew (stream) 9 out (stream)   10 dead (stream)
-- ARGV  1 session key   2 nonce   3 turn   4 step   5 tokens of all the turn's entries   6 reply (JSON or '')
--       7 reason of a dead letter, or ''   8 go on: how many messages to take next, 0 to let go
--       9 lease (ms)   10 wake-up (ms)   11 most grew events kept   12 events channel
--      13 claim number   14 how many stream ids follow, then those ids (what this turn answers), then the entries (JSON)
-- Returns {status, ...}
--   next, then what begin() gives   committed, and the caller holds the session's next turn
--   done                            committed, the session let go; also when this commit had arrived before
--   stale                           refused: somebody else holds the session, or another position

local session, nonce, turn = ARGV[1], ARGV[2], tonumber(ARGV[3])
-- The claim number, not the turn, tells commits apart: one that only says something aside leaves the head where it is.
local name = ARGV[13] .. ' ' .. nonce
local held = redis.call('HGET', KEYS[1], 'nonce') == nonce

local function go_on()
  local begun = begin(KEYS[1], KEYS[2], KEYS[3], KEYS[4], tonumber(ARGV[8]))
  table.insert(begun, 1, 'next')
  return begun
end

if redis.call('HGET', KEYS[1], 'done') == name then
  -- It arrived before and its reply got lost. Still held: the next turn had begun, and begins again.
  if held then return go_on() end
  return {'done'}
end
if not held or number_of(KEYS[1], 'claims') ~= tonumber(ARGV[13]) then return {'stale'} end
local base, head = number_of(KEYS[1], 'base'), number_of(KEYS[1], 'head')
if head ~= turn or base + redis.call('LLEN', KEYS[2]) - head ~= tonumber(ARGV[4]) then return {'stale'} end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answered = tonumber(ARGV[14])

local stop_upto = redis.call('HGET', KEYS[1], 'stop_upto')
for at = 15, 14 + answered do
  if ARGV[7] ~= '' then
    local entry = redis.call('XRANGE', KEYS[4], ARGV[at], ARGV[at])[1]
    if entry then
      redis.call('XADD', KEYS[10], '*', 'session', session, 'id', entry[2][4], 'reason', ARGV[7],
        'attempts', number_of(KEYS[1], 'attempts'), 'message', entry[2][6])
    end
  end
  redis.call('LREM', KEYS[3], 1, ARGV[at])
  redis.call('XDEL', KEYS[4], ARGV[at])
  if ARGV[at] == stop_upto then redis.call('HDEL', KEYS[1], 'stop_upto') end
end

for at = 15 + answered, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
head = base + redis.call('LLEN', KEYS[2])
redis.call('HSET', KEYS[1], 'head', head, 'done', name)
redis.call('HDEL', KEYS[1], 'retry_at', 'parked_at')
redis.call('HINCRBY', KEYS[1], 'tokens', ARGV[5])
redis.call('HINCRBY', KEYS[1], 'tokens_start', ARGV[5])
redis.call('DEL', KEYS[7])
if ARGV[6] ~= '' then redis.call('XADD', KEYS[9], '*', 'reply', ARGV[6]) end
local cursor = number_of(KEYS[1], 'cursor')
if head > turn then
  redis.call('XADD', KEYS[8], 'MAXLEN', '~', ARGV[11], '*', 'event',
    '{"type":"session-grew","session":"' .. session .. '","head":' .. head .. '}')
  redis.call('PUBLISH', ARGV[12],
    '{"type":"moved","session":"' .. session .. '","head":' .. head .. ',"cursor":' .. cursor .. '}')
end

local waiting = redis.call('LLEN', KEYS[3])
-- Going on saves a claim; but sessions that are ready take their turn first, or a flood would keep this slot for ever.
if tonumber(ARGV[8]) > 0 and waiting > 0 and redis.call('ZCARD', KEYS[5]) == 0
  and not window_ends(KEYS[1], KEYS[3], now) then
  local deadline = now + tonumber(ARGV[9])
  redis.call('HINCRBY', KEYS[1], 'claims', 1)
  redis.call('HSET', KEYS[1], 'attempts', 1, 'lease', deadline, 'since', now)
  redis.call('ZADD', KEYS[6], deadline, session)
  return go_on()
end
redis.call('HDEL', KEYS[1], 'nonce', 'lease', 'worker', 'since')
redis.call('HSET', KEYS[1], 'attempts', 0)
if waiting > 0 then
  redis.call('ZADD', KEYS[5], 'NX', now, session)
  redis.call('ZADD', KEYS[6], now + tonumber(ARGV[10]), session)
else
  redis.call('ZREM', KEYS[5], session)
  redis.call('ZREM', KEYS[6], session)
end
return {'done'}
