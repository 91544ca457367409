-- Tell a chat a line, unless it was told one of the kind not long ago.
--
-- KEYS  1 told (string)  2 out (stream)
-- ARGV  1 id of the reply  2 how long no other of the kind follows (ms)  3 the reply (JSON)
-- Returns 'said', 'again' (this very line was said before) or 'held' (another one was)

local was = redis.call('GET', KEYS[1])
if was then return was == ARGV[1] and 'again' or 'held' end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('XADD', KEYS[2], '*', 'reply', ARGV[3])
return 'said'
