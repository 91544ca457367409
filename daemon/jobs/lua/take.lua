-- Take a job, with a rising fence and a nonce of the caller's. One that was taken and not saved since counts an attempt.
--
-- KEYS  1 job (hash)  2 jobs (zset)
-- ARGV  1 id  2 nonce  3 worker  4 lease (ms)  5 longest deadline (ms)  6 '1': also while it rests after a failure
-- Returns {status, ...}
--   taken, fence, attempts, step, kind, spec, secret, state, tell   ours; also when this very command arrives again
--   held, ms until it ends      somebody else has it
--   resting, ms until it ends   it was put off
--   over                        this very take was used and given back already
--   ended                       it is done, or failed for good
--   none                        there is no such job

local names = {'fence', 'attempts', 'step', 'kind', 'spec', 'secret', 'state', 'tell', 'status', 'nonce', 'released'}
local found, fields = redis.call('HMGET', KEYS[1], unpack(names)), {}
for at, name in ipairs(names) do fields[name] = found[at] or '' end
local fence, attempts = tonumber(found[1] or 0), tonumber(found[2] or 0)

local function taken()
  return {'taken', fence, attempts, tonumber(found[3] or 0), fields.kind, fields.spec, fields.secret, fields.state,
    fields.tell}
end

if fields.status == '' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return {'none'}
end
if fields.status == 'done' or fields.status == 'failed' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return {'ended'}
end
if fields.nonce == ARGV[2] then return taken() end
if fields.released == ARGV[2] then return {'over'} end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A deadline further off than any can be was set before the server's clock went back.
local deadline = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0)
if deadline > now and deadline <= now + ARGV[5] then
  if fields.nonce ~= '' then return {'held', deadline - now} end
  if ARGV[6] == '' then return {'resting', deadline - now} end
end

fence, attempts = fence + 1, attempts + 1
redis.call('HSET', KEYS[1], 'status', 'running', 'fence', fence, 'attempts', attempts, 'nonce', ARGV[2],
  'worker', ARGV[3])
redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[1])
return taken()
