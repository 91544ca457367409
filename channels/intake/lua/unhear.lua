-- Forget something that was overheard, because its sender has taken it back. Harmless when repeated.
--
-- KEYS  1 overheard (zset)
-- ARGV  1 id  2 the id of who said it, or '' for whoever it was
-- Returns 1, or 0 when it is not there

for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local ok, value = pcall(cjson.decode, member)
  if ok and type(value) == 'table' and value.id == ARGV[1] and (ARGV[2] == '' or value.sender_id == ARGV[2]) then
    return redis.call('ZREM', KEYS[1], member)
  end
end
return 0
