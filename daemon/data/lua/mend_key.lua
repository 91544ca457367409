-- Mend one key of another kind, unless it is right by now. Harmless when repeated or late.
--
-- KEYS  1 the key
-- ARGV  1 action, then of
--         ttl      2 when a key ends that says no end (ms from now)
--         index    2 a session: it stands in the index, since now
--         unindex  2 a session: it does not
--         job      2 an id: somebody is to take it, now
--         unjob    2 an id: nobody is
-- Returns 'mended', or 'right' when there was nothing to do

local action, done = ARGV[1], false
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if action == 'ttl' then
  done = redis.call('PTTL', KEYS[1]) == -1 and redis.call('PEXPIRE', KEYS[1], ARGV[2]) == 1
elseif action == 'index' or action == 'job' then
  done = redis.call('ZADD', KEYS[1], 'NX', now, ARGV[2]) == 1
elseif action == 'unindex' or action == 'unjob' then
  done = redis.call('ZREM', KEYS[1], ARGV[2]) == 1
end
return done and 'mended' or 'right'
