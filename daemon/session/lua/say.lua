-- Say something in a chat while a turn goes on: a notice for those who watch it, a reply for a push channel, once.
-- It needs the turn's own lease, so it checks the nonce where it can: on a cluster another chat of the scope may lie in
-- another slot, whose script cannot read the turn's session; then the name of the call alone keeps it from being doubled.
--
-- KEYS  1 session (hash) of the turn, or of the chat when that lies elsewhere   2 session (hash) of the chat
--       3 notices (stream)   4 out (stream)   5 said (string)
-- ARGV  1 nonce, or '' to check none   2 turn (the head it began at)   3 scope of the chat   4 TTL of said (ms)
--       5 the notice (JSON)   6 TTL of notices (ms)   7 events channel   8 the reply (JSON), or ''
-- Returns 'said', 'again' (it was said before, also by this very call), 'stale' (somebody else holds the turn's session,
--   or it is another turn) or 'foreign' (the chat is not of that scope, or there is none)

if ARGV[1] ~= '' then
  if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 'stale' end
  if redis.call('HGET', KEYS[1], 'head') ~= ARGV[2] then return 'stale' end
end
if redis.call('HGET', KEYS[2], 'scope') ~= ARGV[3] then return 'foreign' end
if redis.call('EXISTS', KEYS[5]) == 1 then return 'again' end

redis.call('SET', KEYS[5], '1', 'PX', ARGV[4])
redis.call('XADD', KEYS[3], 'MAXLEN', '~', 100, '*', 'notice', ARGV[5])
redis.call('PEXPIRE', KEYS[3], ARGV[6])
if ARGV[8] ~= '' then redis.call('XADD', KEYS[4], '*', 'reply', ARGV[8]) end
redis.call('PUBLISH', ARGV[7], ARGV[5])
return 'said'
