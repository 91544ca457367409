-- Commit a turn: its last entries, head over everything, the reply, session-grew, and what it answered is no longer
-- waiting; then go on with the session's next message or let it go. Harmless when repeated or late: it names its turn.
-- A command that changes the session is a turn without entries: what it changes, and what is said of it, come with it.
--
-- KEYS  1 session (hash)  2 log (list)    3 waiting (list)  4 in (stream)  5 ready (zset)  6 due (zset)
--       7 live (string)   8 grew (stream) 9 out (stream)   10 dead (stream)  11 notices (stream)
--       12 unsettled (zset)
-- ARGV  1 session key   2 nonce   3 turn   4 step   5 tokens of all the turn's entries   6 reply (JSON or '')
--       7 reason of a dead letter, or ''   8 go on: how many messages to take next, 0 to let go
--       9 lease (ms)   10 wake-up (ms)   11 most grew events kept   12 events channel
--      13 claim number   14 start over: '1', or ''      15 options (JSON), or '' to leave them   16 TTL of notices (ms)
--      17 tokens that stand in every prompt of the session, or ''   18 tokens from the start on from which on it should
--      be settled, or ''   19 how many stream ids follow   20 how many notices follow these, then the ids (what this
--      turn answers), the notices (JSON), and last the entries (JSON)
-- Returns {status, ...}
--   next, then what begin() gives   committed, and the caller holds the session's next turn
--   done                            committed, the session let go; also when this commit had arrived before
--   stale                           refused: somebody else holds the session, or another position

local session, nonce, turn, take = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[8])
-- The claim number, not the turn, tells commits apart: one that only says something aside leaves the head where it is.
local name = ARGV[13] .. ' ' .. nonce
local fields, now = fields_of(KEYS[1]), now_ms()
local held = fields.nonce == nonce

local function go_on()
  local begun = begin(fields, KEYS[1], KEYS[2], KEYS[3], KEYS[4], take, now)
  table.insert(begun, 1, 'next')
  return begun
end

if fields.done == name then
  -- It arrived before and its reply got lost. Still held: the next turn had begun, and begins again.
  if held then return go_on() end
  return {'done'}
end
if not held or fields.claims ~= tonumber(ARGV[13]) then return {'stale'} end
local head = fields.base + redis.call('LLEN', KEYS[2])
if fields.head ~= turn or head - turn ~= tonumber(ARGV[4]) then return {'stale'} end

local first_notice = 21 + ARGV[19]
local first_entry = first_notice + ARGV[20]
for at = 21, first_notice - 1 do
  if ARGV[7] ~= '' then
    local entry = redis.call('XRANGE', KEYS[4], ARGV[at], ARGV[at])[1]
    if entry then
      redis.call('XADD', KEYS[10], '*', 'session', session, 'id', entry[2][4], 'reason', ARGV[7],
        'attempts', fields.attempts, 'message', entry[2][6])
    end
  end
  redis.call('LREM', KEYS[3], 1, ARGV[at])
  redis.call('XDEL', KEYS[4], ARGV[at])
  if ARGV[at] == fields.stop_upto then
    redis.call('HDEL', KEYS[1], 'stop_upto')
    fields.stop_upto = ''
  end
end

for at = first_entry, #ARGV, 1000 do
  head = fields.base + redis.call('RPUSH', KEYS[2], unpack(ARGV, at, math.min(at + 999, #ARGV)))
end
redis.call('DEL', KEYS[7])
if ARGV[6] ~= '' then redis.call('XADD', KEYS[9], '*', 'reply', ARGV[6]) end
for at = first_notice, first_entry - 1 do
  redis.call('XADD', KEYS[11], 'MAXLEN', '~', 100, '*', 'notice', ARGV[at])
  redis.call('PEXPIRE', KEYS[11], ARGV[16])
  redis.call('PUBLISH', ARGV[12], ARGV[at])
end
local starts_over = ARGV[14] ~= ''
if head > turn or starts_over then
  redis.call('XADD', KEYS[8], 'MAXLEN', '~', ARGV[11], '*', 'event',
    '{"type":"session-grew","session":"' .. session .. '","head":' .. head .. '}')
end
if head > turn then
  redis.call('PUBLISH', ARGV[12],
    '{"type":"moved","session":"' .. session .. '","head":' .. head .. ',"cursor":' .. fields.cursor .. '}')
end

local waiting = redis.call('LLEN', KEYS[3])
-- Going on saves a claim; but sessions that are ready take their turn first, or a flood would keep this slot for ever.
local goes_on = take > 0 and waiting > 0 and redis.call('ZCARD', KEYS[5]) == 0
  and not window_ends(fields, KEYS[3], now)
fields.head, fields.parked_at = head, 0
fields.attempts = goes_on and 1 or 0
fields.tokens = fields.tokens + ARGV[5]
fields.tokens_start = starts_over and 0 or fields.tokens_start + ARGV[5]
redis.call('HSET', KEYS[1], 'head', head, 'done', name, 'attempts', fields.attempts,
  'tokens', fields.tokens, 'tokens_start', fields.tokens_start)
if ARGV[17] ~= '' then redis.call('HSET', KEYS[1], 'fixed', ARGV[17]) end
if starts_over then
  redis.call('HSET', KEYS[1], 'start', head)
  redis.call('HDEL', KEYS[1], 'continuity')
  fields.start, fields.continuity = head, ''
end
-- Whoever consolidates hears of it by the event; only when nobody comes is it looked for here.
if (starts_over and head > fields.cursor) or (ARGV[18] ~= '' and fields.tokens_start >= tonumber(ARGV[18])) then
  redis.call('ZADD', KEYS[12], 'NX', now + ARGV[10], session)
end
if ARGV[15] ~= '' then
  redis.call('HSET', KEYS[1], 'options', ARGV[15])
  fields.options = ARGV[15]
end

if goes_on then
  local deadline = now + tonumber(ARGV[9])
  fields.claims = fields.claims + 1
  redis.call('HSET', KEYS[1], 'claims', fields.claims, 'lease', deadline, 'since', now)
  redis.call('HDEL', KEYS[1], 'retry_at', 'parked_at')
  redis.call('ZADD', KEYS[6], deadline, session)
  return go_on()
end
redis.call('HDEL', KEYS[1], 'retry_at', 'parked_at', 'nonce', 'lease', 'worker', 'since')
if waiting > 0 then
  redis.call('ZADD', KEYS[5], 'NX', now, session)
  redis.call('ZADD', KEYS[6], now + tonumber(ARGV[10]), session)
else
  redis.call('ZREM', KEYS[5], session)
  redis.call('ZREM', KEYS[6], session)
end
return {'done'}
