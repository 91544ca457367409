-- Take a reply that will not be delivered out of out: a dead letter, or nothing when there is nothing to send.
--
-- KEYS  1 leader (hash)  2 out (stream)  3 dead (stream)
-- ARGV  1 nonce  2 stream id of the reply  3 reason, or '' for no dead letter  4 attempts  5 session  6 reply id
-- Returns 'done', also when it arrives twice, or 'stale' when somebody else sends now

if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 'stale' end
local entry = redis.call('XRANGE', KEYS[2], ARGV[2], ARGV[2])[1]
if not entry then return 'done' end
if ARGV[3] ~= '' then
  redis.call('XADD', KEYS[3], '*', 'session', ARGV[5], 'id', ARGV[6], 'reason', ARGV[3], 'attempts', ARGV[4],
    'reply', entry[2][2])
end
redis.call('XDEL', KEYS[2], ARGV[2])
return 'done'
