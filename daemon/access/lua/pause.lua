-- Have a bot rest in a chat or in all, or go on. Harmless when repeated or late, as change.lua is.
--
-- KEYS  1 paused (hash)
-- ARGV  1 the chat, or '*'  2 'on' (it rests) or 'off'  3 who decides  4 time (ISO 8601)
--       5 stream id of the command, or '' for now  6 rulings channel  7 what is published there
--       8 how long is remembered that a chat rests no more (ms)
-- Returns 'done', 'none' (it is so already) or 'late' (a newer command stands)

local now, at = server_ms(), ARGV[5]
if at == '' then at = string.format('%.0f-0', now) end
local all, was = redis.call('HGETALL', KEYS[1]), nil
for index = 1, #all, 2 do
  local entry = decoded(all[index + 1])
  if all[index] == ARGV[1] then
    was = entry
  elseif not entry or (not entry.on and (tonumber(string.match(entry.at or '', '^%d+')) or 0) < now - ARGV[8]) then
    redis.call('HDEL', KEYS[1], all[index])
  end
end
if was and was.at == at then return 'done' end
if was and was.at and not is_later(at, was.at) then return 'late' end
if ((was and was.on) or false) == (ARGV[2] == 'on') then return 'none' end
redis.call('HSET', KEYS[1], ARGV[1],
  cjson.encode({on = ARGV[2] == 'on', by = ARGV[3], time = ARGV[4], at = at}))
redis.call('PUBLISH', ARGV[6], ARGV[7])
return 'done'
