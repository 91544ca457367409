-- Let the stranger in whom a code was given, which can be done once; and count those that are wrong.
--
-- KEYS  1 codes (hash)  2 access (hash)  3 guesses (hash): an administrator's messages that held a wrong code
-- ARGV  1 code  2 who uses it: session and id of the message  3 most wrong ones  4 TTL of guesses (ms)
--       5 who decides  6 time (ISO 8601)  7 stream id of the command, or '' for now
--       8 rulings channel  9 what is published there
-- Returns {'used', id, name, session} (also when it arrives twice), {'wrong'} or {'often'} (too many wrong ones)

local now = server_ms()
local all, id, found = redis.call('HGETALL', KEYS[1]), nil, nil
for at = 1, #all, 2 do
  local entry = decoded(all[at + 1])
  if entry and entry.code == ARGV[1] and (tonumber(entry['until']) or 0) > now then id, found = all[at], entry end
end
if found and found.used == ARGV[2] then return {'used', id, found.name or '', found.session or ''} end
if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[3]) then return {'often'} end
if not found or found.used then
  redis.call('HSET', KEYS[3], ARGV[2], '1')
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
  return {'wrong'}
end
local at = ARGV[7]
if at == '' then at = string.format('%.0f-0', now) end
decide(KEYS[2], id, 'paired', found.name or '', ARGV[5], ARGV[6], at)
found.used = ARGV[2]
redis.call('HSET', KEYS[1], id, cjson.encode(found))
redis.call('PUBLISH', ARGV[8], ARGV[9])
return {'used', id, found.name or '', found.session or ''}
