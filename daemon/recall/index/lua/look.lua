-- What a scope remembers, at one moment, without any of it but the newest entry and note: whether an index that holds
-- copies of it is in step. Changes nothing.
--
-- KEYS  1 memory (hash)  2 history (list)  3 notes (list)  4 versions (list)
-- ARGV  1 '1' to be told of scopes that were linked into this one
-- Returns {home of what was joined with another, or '', how often something was forgotten, checksum of MEMORY.md,
--   one past the last index of the history, of the notes, of the versions, the newest entry or '', the newest note or '',
--   fields of linked scopes ...}

local fields = redis.call('HMGET', KEYS[1], 'joined', 'forgets', 'checksum', 'history_base', 'notes_base',
  'versions_base')
local found = {
  fields[1] or '', tonumber(fields[2] or 0), fields[3] or '',
  tonumber(fields[4] or 0) + redis.call('LLEN', KEYS[2]),
  tonumber(fields[5] or 0) + redis.call('LLEN', KEYS[3]),
  tonumber(fields[6] or 0) + redis.call('LLEN', KEYS[4]),
  redis.call('LINDEX', KEYS[2], -1) or '', redis.call('LINDEX', KEYS[3], -1) or ''
}
if ARGV[1] == '1' then
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 6) == 'links:' then found[#found + 1] = field end
  end
end
return found
