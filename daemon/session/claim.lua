-- Claim a session: a lease with a rising fence and the caller's nonce. Only this judges lease and back-off.
--
-- KEYS  1 session (hash)  2 log (list)  3 waiting (list)  4 in (stream)  5 ready (zset)  6 due (zset)
-- ARGV  1 session key  2 nonce, random  3 worker  4 lease (ms)  5 longest deadline (ms)  6 how many messages to take
-- Returns {status, ...}
--   claimed, then what begin() gives   held now; also when this very claim arrives again before its turn went on.
--                                      Without a message when every one that waited was gone from the stream: whoever
--                                      holds it reports what was dropped and gives it back
--   held, ms until the lease ends      somebody else answers it
--   parked, ms until the retry         it backs off
--   empty                              nothing waits
--   ended                              this very claim was granted, used and given up already

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local session, nonce = ARGV[1], ARGV[2]

local function ahead(field)
  local deadline = number_of(KEYS[1], field)
  if deadline > now and deadline <= now + tonumber(ARGV[5]) then return deadline end
  return nil
end

if redis.call('HGET', KEYS[1], 'nonce') == nonce then
  local begun = begin(KEYS[1], KEYS[2], KEYS[3], KEYS[4], tonumber(ARGV[6]))
  table.insert(begun, 1, 'claimed')
  return begun
end

-- A copy that arrives after its turn was committed or given back: its sender had the other copy's answer, and nobody
-- would work under this one.
local committed = string.match(redis.call('HGET', KEYS[1], 'done') or '', ' (%S+)$')
local released = string.match(redis.call('HGET', KEYS[1], 'released') or '', '^(%S+) ')
if committed == nonce or released == nonce then return {'ended'} end

local lease = ahead('lease')
if lease then
  redis.call('ZREM', KEYS[5], session)
  redis.call('ZADD', KEYS[6], lease, session)
  return {'held', lease - now}
end
local retry = ahead('retry_at')
if retry then
  redis.call('ZREM', KEYS[5], session)
  redis.call('ZADD', KEYS[6], retry, session)
  return {'parked', retry - now}
end

local ends = window_ends(KEYS[1], KEYS[3], now)
if ends then
  redis.call('ZREM', KEYS[5], session)
  redis.call('ZADD', KEYS[6], ends, session)
  return {'parked', ends - now}
end

if redis.call('LLEN', KEYS[3]) == 0 then
  redis.call('ZREM', KEYS[5], session)
  redis.call('ZREM', KEYS[6], session)
  redis.call('HDEL', KEYS[1], 'nonce', 'lease', 'worker', 'since', 'retry_at', 'stop_upto')
  return {'empty'}
end

local deadline = now + tonumber(ARGV[4])
redis.call('HINCRBY', KEYS[1], 'fence', 1)
redis.call('HINCRBY', KEYS[1], 'claims', 1)
redis.call('HINCRBY', KEYS[1], 'attempts', 1)
redis.call('HSET', KEYS[1], 'nonce', nonce, 'worker', ARGV[3], 'lease', deadline, 'since', now)
redis.call('HDEL', KEYS[1], 'retry_at')
redis.call('ZREM', KEYS[5], session)
redis.call('ZADD', KEYS[6], deadline, session)

local begun = begin(KEYS[1], KEYS[2], KEYS[3], KEYS[4], tonumber(ARGV[6]))
table.insert(begun, 1, 'claimed')
return begun
