-- Let a whole conversation go: its messages, what was left of them when they were consolidated, and what a reader could
-- still find. Its indexes go on where they are, and so does a turn that somebody holds, whose journal stays until then.
-- Harmless when repeated; late it lets go of no more than the head that it names.
--
-- KEYS  1 session (hash)  2 log (list)  3 live (string)  4 notices (stream)  5 lock (hash)
-- ARGV  1 session key  2 nonce of the consolidation lock  3 the head, before which all goes  4 events channel
-- Returns 'done', or 'lost': somebody else has the lock

if redis.call('HGET', KEYS[5], 'nonce') ~= ARGV[2] then return 'lost' end
local fields = redis.call('HMGET', KEYS[1], 'base', 'head', 'cursor', 'start', 'begins', 'nonce', 'lease')
local base, head = tonumber(fields[1] or 0), tonumber(fields[2] or 0)
local time = redis.call('TIME')
local is_held = fields[6] and tonumber(fields[7] or 0) > time[1] * 1000 + math.floor(time[2] / 1000)
local upto = math.min(tonumber(ARGV[3]), head)
redis.call('DEL', KEYS[3], KEYS[4])
redis.call('HDEL', KEYS[1], 'continuity', 'unflushed', 'failures', 'digests', 'parts', 'options')
-- What it was to answer is gone: nobody would go on with it.
if not is_held then redis.call('LTRIM', KEYS[2], 0, head - base - 1) end
if not is_held and head == base then redis.call('DEL', KEYS[2]) end
if upto <= tonumber(fields[5] or 0) then return 'done' end

if upto > base then
  redis.call('LTRIM', KEYS[2], upto - base, -1)
  redis.call('HSET', KEYS[1], 'base', upto)
end
redis.call('HSET', KEYS[1], 'begins', upto, 'cursor', math.max(upto, tonumber(fields[3] or 0)),
  'start', math.max(upto, tonumber(fields[4] or 0)))
-- What was committed while this was on its way counts too much until the next time.
if upto == head then redis.call('HSET', KEYS[1], 'tokens', 0, 'tokens_start', 0) end
redis.call('PUBLISH', ARGV[4],
  '{"type":"moved","session":"' .. ARGV[1] .. '","head":' .. head .. ',"cursor":' .. upto .. '}')
return 'done'
