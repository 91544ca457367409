-- Put a piece of a key that is restored where it belongs. Harmless when repeated or late.
--
-- KEYS  1 the key
-- ARGV  1 its type  2 how many items a list holds before this piece  3 when it ends (ms), or ''  then of a string its
--       value, of a hash fields and values in turn, of a list items, of a sorted set scores and members in turn, of a
--       stream for each entry its id, how many words follow, and these
-- Returns 'done', or 'moved' when a list holds another number of items: somebody else writes it

local kind, at = ARGV[1], tonumber(ARGV[2])
if kind == 'string' then
  redis.call('SET', KEYS[1], ARGV[4])
elseif kind == 'hash' then
  redis.call('HSET', KEYS[1], unpack(ARGV, 4))
elseif kind == 'zset' then
  redis.call('ZADD', KEYS[1], unpack(ARGV, 4))
elseif kind == 'list' then
  local length = redis.call('LLEN', KEYS[1])
  if length == at then
    redis.call('RPUSH', KEYS[1], unpack(ARGV, 4))
  elseif length < at + #ARGV - 3 then
    return 'moved'
  end
else
  local arg = 4
  while ARGV[arg] do
    local words = tonumber(ARGV[arg + 1])
    if #redis.call('XRANGE', KEYS[1], ARGV[arg], ARGV[arg]) == 0 then
      redis.call('XADD', KEYS[1], ARGV[arg], unpack(ARGV, arg + 2, arg + 1 + words))
    end
    arg = arg + 2 + words
  end
end
if ARGV[3] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
return 'done'
