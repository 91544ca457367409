-- Put another message in the place of one that waits, because its sender has edited it: it keeps its place in the list
-- and gets a stream id of its own. Harmless when repeated or late: it names what it replaces.
--
-- KEYS  1 in (stream)  2 session (hash)  3 waiting (list)  4 log (list)
-- ARGV  1 session key  2 stream id of the message that waits  3 its message id  4 the message that takes its place (JSON)
--       5 most messages of a burst
-- Returns
--   amended  the other one waits now
--   late     a turn that answers it is under way, or has been and is gone on with: it has read it as it was. Or a stop
--            waits behind it, which ends it as it stands
--   gone     it does not wait any more, or stands there under another stream id

local old = ARGV[2]
local at = redis.call('LPOS', KEYS[3], old)
if not at then return 'gone' end
local entry = redis.call('XRANGE', KEYS[1], old, old)[1]
if not entry then return 'gone' end

local nonce, head, base, debounce, stop_upto = unpack(redis.call('HMGET', KEYS[2], 'nonce', 'head', 'base', 'debounce',
  'stop_upto'))
local function position(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end

local ms, seq = position(old)
-- Of a turn that is under way: the first, and all that came within the window after it. Only its holder knows better;
-- whoever died with it is found out by a claim.
local function is_read()
  if not nonce and tonumber(base or 0) + redis.call('LLEN', KEYS[4]) <= tonumber(head or 0) then return false end
  if at == 0 then return true end
  return debounce and at < tonumber(ARGV[5]) and ms <= position(redis.call('LINDEX', KEYS[3], 0)) + debounce
end
local function is_stopped()
  if not stop_upto then return false end
  local stop_ms, stop_seq = position(stop_upto)
  return ms < stop_ms or (ms == stop_ms and seq <= stop_seq)
end
if is_read() or is_stopped() then return 'late' end

local new = redis.call('XADD', KEYS[1], '*', 'session', ARGV[1], 'id', ARGV[3], 'message', ARGV[4])
redis.call('LSET', KEYS[3], at, new)
redis.call('XDEL', KEYS[1], old)
return 'amended'
