-- Answer a command aside: a notice, and a reply for push channels, and the command is no longer accepted and unanswered.
-- It needs no lease: the command's own entry, which goes with the answer, says that nobody has answered yet.
--
-- KEYS  1 in (stream)  2 asides (zset)  3 notices (stream)  4 out (stream)  5 dead (stream)
-- ARGV  1 its member of asides  2 its stream id  3 the notice (JSON), or '' for what cannot be answered
--       4 TTL of notices (ms)   5 events channel  6 the reply (JSON), or ''  7 reason of a dead letter
-- Returns 'said', 'dead', or 'over' when it was answered before, also by this very call

local entry = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])[1]
if not entry then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 'over'
end

local status = 'said'
if ARGV[3] == '' then
  redis.call('XADD', KEYS[5], '*', 'session', entry[2][2], 'id', entry[2][4], 'reason', ARGV[7], 'attempts', 1,
    'message', entry[2][6])
  status = 'dead'
else
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', 100, '*', 'notice', ARGV[3])
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
  if ARGV[6] ~= '' then redis.call('XADD', KEYS[4], '*', 'reply', ARGV[6]) end
  redis.call('PUBLISH', ARGV[5], ARGV[3])
end
redis.call('XDEL', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[1])
return status
