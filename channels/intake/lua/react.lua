-- Keep a person's reaction to a message of the bot's, for when the bot is asked. The newest reactions stay.
-- Harmless when repeated, also after the bot was asked.
--
-- KEYS  1 overheard (zset)  2 seen (string), of the reaction
-- ARGV  1 id  2 the reaction (JSON)  3 most reactions  4 TTL (ms)
-- Returns 'kept', or 'late' (it was kept before)

if not redis.call('SET', KEYS[2], '0  ' .. ARGV[1], 'NX', 'PX', ARGV[4]) then return 'late' end

-- Platforms give reactions no place among messages: one stands behind all that was said so far.
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('ZADD', KEYS[1], last[2] or 0, ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])

local reactions = {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local ok, value = pcall(cjson.decode, member)
  if ok and type(value) == 'table' and value.is_reaction == true then
    reactions[#reactions + 1] = {at = tostring(value.at), member = member}
  end
end
table.sort(reactions, function(one, other) return one.at < other.at end)
for number = 1, #reactions - tonumber(ARGV[3]) do
  redis.call('ZREM', KEYS[1], reactions[number].member)
end
return 'kept'
