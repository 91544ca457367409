-- Change, pause, put off or delete a reminder that is still as its caller saw it.
--
-- KEYS  1 reminders (hash)  2 upcoming (zset)  3 said (string), of a command, or missing: others that carry out the
--       same command find there that it deleted the reminder
-- ARGV  1 its member of upcoming  2 its id  3 the reminder as it was (JSON)  4 as it is to be, or '' to delete it
--       5 when it is looked at next (ms), or '' while it is paused   6 TTL of said (ms)
-- Returns 1; 0 when it is another one by now, or gone

if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 0 end
if ARGV[4] == '' then
  redis.call('HDEL', KEYS[1], ARGV[2])
  if KEYS[3] then redis.call('SET', KEYS[3], '1', 'PX', ARGV[6]) end
else
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
end
if ARGV[4] == '' or ARGV[5] == '' then
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('ZADD', KEYS[2], ARGV[5], ARGV[1])
end
return 1
