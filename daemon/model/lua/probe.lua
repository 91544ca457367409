-- May a model's server be asked? One caller at a time finds out whether a server works again that has failed for a while.
--
-- KEYS  1 failing (hash)
-- ARGV  1 for how long an outage is no reason not to ask (ms)  2 how long a probe may take (ms)
-- Returns {} (ask it), or {kind, reason, for how long it has failed (ms), ms until somebody may ask it}

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kind, reason, since, next_at = unpack(redis.call('HMGET', KEYS[1], 'kind', 'reason', 'since', 'next'))
if not kind or kind == 'refused' then return {} end
local failed_for, left = now - (tonumber(since) or now), (tonumber(next_at) or 0) - now
if kind == 'outage' and failed_for < tonumber(ARGV[1]) then return {} end
-- Further off than a probe may take: the server's clock was set back.
if left > 0 and left <= tonumber(ARGV[2]) then return {kind, reason, failed_for, left} end
redis.call('HSET', KEYS[1], 'next', now + ARGV[2])
return {}
