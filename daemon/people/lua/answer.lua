-- Answer a link request for one side. The no of one side rejects the request; the yes of both sides confirms it.
-- Harmless when repeated.
--
-- KEYS  1 pair (hash)  2 linking (hash) of the side  3 linking (hash) of the other side
-- ARGV  1 the code  2 'maker' or 'member'  3 the other side  4 'yes', 'no' or 'gone' (one person may no longer write)
--       5 session and ID of the message with the answer  6 time at which this message was accepted (ms)
-- Returns 'none' (no open request), 'newer' (the request is newer than the answer), 'waits' (for the other side),
--   'both' (both sides have confirmed), 'over' (the job was created before), 'no' (this message rejected the request),
--   'rejected' (another message rejected it before)

-- If a person was forgotten, the hash of this person is gone.
if redis.call('HGET', KEYS[2], 'code') ~= ARGV[1] or redis.call('HGET', KEYS[3], 'code') ~= ARGV[1] then
  return 'none'
end
local since, ended, by, begun, own, other =
  unpack(redis.call('HMGET', KEYS[1], 'since', 'no', 'no_by', 'begun', ARGV[2] .. '_yes', ARGV[3] .. '_yes'))
if not since then return 'none' end
if tonumber(ARGV[6]) < tonumber(since) then return 'newer' end
if ended then return by == ARGV[5] and 'no' or 'rejected' end
if own and other then return begun and begun ~= ARGV[5] and 'over' or 'both' end
if ARGV[4] ~= 'yes' then
  redis.call('HSET', KEYS[1], 'no', ARGV[4] == 'no' and ARGV[2] or ARGV[4], 'no_by', ARGV[5])
  redis.call('HDEL', KEYS[2], 'open')
  redis.call('HDEL', KEYS[3], 'open')
  return 'no'
end
redis.call('HSET', KEYS[1], ARGV[2] .. '_yes', ARGV[5])
return other and 'both' or 'waits'
