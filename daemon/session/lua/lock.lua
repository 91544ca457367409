-- Take the consolidation lock of a session, with a rising fence and a nonce of the caller's.
--
-- KEYS  1 session (hash)  2 lock (hash)  3 unsettled (zset)
-- ARGV  1 session key  2 nonce  3 worker  4 lease (ms)  5 longest deadline (ms)
--       6 the fence must be above this: what the memory has seen, when the session was set back
--       7 '1': only if it is still held under this nonce
--       8 '1': somebody waits for it; noted for its holder
-- Returns {status, ...}
--   locked, fence, base, cursor, start, head, tokens, tokens_start, scope, options, continuity, fixed, flushed,
--     unflushed, failures, digests, parts, flush_failed, digest_at
--     held now; also when this very command arrives again before it was given back
--   held, ms until it ends     somebody else settles it
--   ended                      this very lock was taken, used and given back already, or it is not held under this nonce any more
--   none                       there is no such session

local lock = redis.call('HMGET', KEYS[2], 'fence', 'nonce', 'lease', 'released')
local fence, nonce, deadline, released = tonumber(lock[1] or 0), lock[2] or '', tonumber(lock[3] or 0), lock[4] or ''

local function locked()
  local fields = redis.call('HMGET', KEYS[1], 'base', 'cursor', 'start', 'head', 'tokens', 'tokens_start', 'scope',
    'options', 'continuity', 'fixed', 'flushed', 'unflushed', 'failures', 'digests',
    'parts', 'flush_failed', 'digest_at')
  local found = {'locked', fence}
  for at = 1, 17 do found[#found + 1] = fields[at] or '' end
  return found
end

if nonce == ARGV[2] then
  -- A fence below what the memory has seen is of no use: the session was set back by a failover.
  if fence <= tonumber(ARGV[6]) then
    fence = ARGV[6] + 1
    redis.call('HSET', KEYS[2], 'fence', fence)
  end
  return locked()
end
if released == ARGV[2] or ARGV[7] ~= '' then return {'ended'} end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('ZREM', KEYS[3], ARGV[1])
  return {'none'}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A deadline further off than any can be was set before the server's clock went back.
if nonce ~= '' and deadline > now and deadline <= now + ARGV[5] then
  if ARGV[8] ~= '' then redis.call('HSET', KEYS[1], 'wanted', nonce) end
  return {'held', deadline - now}
end

fence = math.max(fence, tonumber(ARGV[6])) + 1
redis.call('HSET', KEYS[2], 'fence', fence, 'nonce', ARGV[2], 'worker', ARGV[3], 'lease', now + ARGV[4], 'since', now)
-- When its holder dies it is looked at again as soon as the lock has ended.
redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[1])
return locked()
