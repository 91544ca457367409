-- Give a session back without a commit: handed over at a stop, or to be tried again later.
--
-- KEYS  1 session (hash)  2 ready (zset)  3 due (zset)  4 notices (stream)  5 out (stream)
-- ARGV  1 session key  2 nonce  3 does the attempt count: 'counts', 'parked' (no, and the time since the first such
--       is counted) or 'undone' (no)              4 delay before the next attempt (ms)              5 wake-up (ms)
--       6 the stop that was known when the turn began, or ''
--       7 what its people are told: a notice (JSON), or ''; of a parked session only the first time   8 TTL of notices (ms)
--       9 events channel   10 the same as a reply (JSON) for push channels, or ''
--       11 under which name they are told it once, or ''; of a parked session they are told again under another name
--       12 why it is parked (text), or ''   13 how long it has to be parked, the delay included, before they are told (ms)
-- Returns 'done', 'parked' (delayed without counting, and told for the first time since the last commit),
--   the same again when it arrives twice, or 'stale' (it is not ours any more; nothing to give back)

local released, status = string.match(redis.call('HGET', KEYS[1], 'released') or '', '^(%S+) (%S+)$')
if released == ARGV[2] then return status end
if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[2] then return 'stale' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

redis.call('HDEL', KEYS[1], 'nonce', 'lease', 'worker', 'since')
if ARGV[3] ~= 'counts' and tonumber(redis.call('HGET', KEYS[1], 'attempts')) > 0 then
  redis.call('HINCRBY', KEYS[1], 'attempts', -1)
end
-- A stop that came meanwhile ends the back-off before it begins. One that was known and could not be obeyed does not:
-- the session would be claimed and given back without a pause.
local delay = tonumber(ARGV[4])
status = 'done'
if (redis.call('HGET', KEYS[1], 'stop_upto') or '') ~= ARGV[6] then delay = 0 end
if delay > 0 then
  redis.call('HSET', KEYS[1], 'retry_at', now + delay)
  redis.call('ZADD', KEYS[3], now + delay, ARGV[1])
  local tells = ARGV[3] == 'undone' and ARGV[7] ~= ''
  if ARGV[3] == 'parked' then
    redis.call('HSETNX', KEYS[1], 'parked_at', now)
    redis.call('HSET', KEYS[1], 'parked_why', ARGV[12])
    local parked_at, told = unpack(redis.call('HMGET', KEYS[1], 'parked_at', 'parked_told'))
    if now - parked_at + delay >= tonumber(ARGV[13]) then
      if not told then
        redis.call('HSET', KEYS[1], 'parked_told', 1)
        status = 'parked'
      end
      tells = ARGV[7] ~= '' and (not told or ARGV[11] ~= '')
    end
  end
  if tells and ARGV[11] ~= '' then
    if redis.call('HGET', KEYS[1], 'told_pause') == ARGV[11] then tells = false end
    redis.call('HSET', KEYS[1], 'told_pause', ARGV[11])
  end
  if tells then
    redis.call('XADD', KEYS[4], 'MAXLEN', '~', 100, '*', 'notice', ARGV[7])
    redis.call('PEXPIRE', KEYS[4], ARGV[8])
    redis.call('PUBLISH', ARGV[9], ARGV[7])
    if ARGV[10] ~= '' then redis.call('XADD', KEYS[5], '*', 'reply', ARGV[10]) end
  end
else
  redis.call('ZADD', KEYS[2], 'NX', now, ARGV[1])
  redis.call('ZADD', KEYS[3], now + tonumber(ARGV[5]), ARGV[1])
end
redis.call('HSET', KEYS[1], 'released', ARGV[2] .. ' ' .. status)
return status
