-- Keep a new reminder in a chat, once for each call that asks for it.
-- Of a turn, it needs the turn's own lease, and so checks the nonce where it can: on a cluster the chat may lie in another
-- slot than the turn's session, as in say.lua. What was asked for is remembered for a week: a call that is repeated when its
-- reminder has fired already keeps no second one.
--
-- KEYS  1 session (hash) of the turn, or of the chat when that lies elsewhere   2 session (hash) of the chat
--       3 reminders (hash)  4 upcoming (zset)  5 said (string)
-- ARGV  1 nonce, or '' to check none   2 turn (the head it began at)   3 scope of the chat   4 TTL of said (ms)
--       5 reminder id   6 the reminder (JSON)   7 when it is due (ms)   8 how many a chat may have
--       9 its member of upcoming
-- Returns 'created', 'again' (it was asked for before, also by this very call), 'stale' (somebody else holds the turn's
--   session), 'foreign' (the chat is not of that scope, or there is none), 'full', or 'taken' (the id is another one's)

if ARGV[1] ~= '' then
  if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 'stale' end
  if redis.call('HGET', KEYS[1], 'head') ~= ARGV[2] then return 'stale' end
end
if redis.call('HGET', KEYS[2], 'scope') ~= ARGV[3] then return 'foreign' end
if redis.call('EXISTS', KEYS[5]) == 1 then return 'again' end
if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[8]) then return 'full' end
if redis.call('HEXISTS', KEYS[3], ARGV[5]) == 1 then return 'taken' end

redis.call('SET', KEYS[5], '1', 'PX', ARGV[4])
redis.call('HSET', KEYS[3], ARGV[5], ARGV[6])
redis.call('ZADD', KEYS[4], ARGV[7], ARGV[9])
return 'created'
