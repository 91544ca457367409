-- Tell the people of a session something that belongs to no turn.
--
-- KEYS  1 notices (stream)  2 out (stream)
-- ARGV  1 the notice (JSON)  2 TTL of notices (ms)  3 events channel  4 the reply (JSON), or ''
-- Returns 1

redis.call('XADD', KEYS[1], 'MAXLEN', '~', 100, '*', 'notice', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[1])
if ARGV[4] ~= '' then redis.call('XADD', KEYS[2], '*', 'reply', ARGV[4]) end
return 1
