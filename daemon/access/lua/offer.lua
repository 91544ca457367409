-- Give a stranger a code to be let in with: one at a time, so who asks again gets the same one.
-- Codes that are over go with this, so that there are never more than may be open.
--
-- KEYS  1 codes (hash)
-- ARGV  1 id of the stranger  2 a code, drawn at random  3 name  4 session that the stranger writes in
--       5 TTL (ms)  6 how many may be open
-- Returns the stranger's code, or '' when too many are open

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all, open, own = redis.call('HGETALL', KEYS[1]), 0, nil
for at = 1, #all, 2 do
  local ok, entry = pcall(cjson.decode, all[at + 1])
  if not ok or type(entry) ~= 'table' or (tonumber(entry['until']) or 0) <= now then
    redis.call('HDEL', KEYS[1], all[at])
  elseif all[at] == ARGV[1] and not entry.used then
    own = entry
  elseif all[at] ~= ARGV[1] then
    open = open + 1
  end
end
if own then return own.code end
if open >= tonumber(ARGV[6]) then return '' end
redis.call('HSET', KEYS[1], ARGV[1],
  cjson.encode({code = ARGV[2], name = ARGV[3], session = ARGV[4], ['until'] = now + tonumber(ARGV[5])}))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return ARGV[2]
