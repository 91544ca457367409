-- Say something in a chat in the name of a job, once: a notice for those who watch it, a reply for a push channel.
-- Harmless when repeated or late: it is named.
--
-- KEYS  1 notices (stream)  2 out (stream)  3 said (string)
-- ARGV  1 the notice (JSON)  2 TTL of notices (ms)  3 events channel  4 the reply (JSON), or ''  5 TTL of said (ms)
-- Returns 'said', or 'again' (it was said before)

if redis.call('EXISTS', KEYS[3]) == 1 then return 'again' end
redis.call('SET', KEYS[3], '1', 'PX', ARGV[5])
redis.call('XADD', KEYS[1], 'MAXLEN', '~', 100, '*', 'notice', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if ARGV[4] ~= '' then redis.call('XADD', KEYS[2], '*', 'reply', ARGV[4]) end
redis.call('PUBLISH', ARGV[3], ARGV[1])
return 'said'
