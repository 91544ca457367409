-- Mend one thing of a scope's memory that a look at its data found, unless it is right by now. Harmless when repeated.
--
-- KEYS  1 memory (hash)  2 versions (list)  3 undigested (list)
-- ARGV  1 action, then of
--         text        2 version as it was  3 how many are in the archive: MEMORY.md reads as that version
--         checksum    nothing: it is worked out anew
--         undigested  2 an index  3 '0': it is none at all, '1': it stands there more than once
-- Returns 'mended', or 'right' when there was nothing to do

local action, done = ARGV[1], false
if action == 'text' then
  local fields = redis.call('HMGET', KEYS[1], 'version', 'versions_base', 'text')
  local raw = redis.call('LINDEX', KEYS[2], ARGV[2] - 1 - ARGV[3])
  local read, version = pcall(cjson.decode, raw or '')
  if fields[1] == ARGV[2] and (fields[2] or '0') == ARGV[3] and read and type(version.text) == 'string'
    and fields[3] ~= version.text then
    redis.call('HSET', KEYS[1], 'text', version.text, 'checksum', redis.sha1hex(version.text))
    done = true
  end
elseif action == 'checksum' then
  local fields = redis.call('HMGET', KEYS[1], 'text', 'checksum')
  local checksum = redis.sha1hex(fields[1] or '')
  if fields[2] ~= checksum then
    redis.call('HSET', KEYS[1], 'checksum', checksum)
    done = true
  end
elseif action == 'undigested' then
  local times = 0
  for _, each in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
    if each == ARGV[2] then times = times + 1 end
  end
  if ARGV[3] == '1' then
    done = times > 1 and redis.call('LREM', KEYS[3], 1 - times, ARGV[2]) > 0
  else
    done = redis.call('LREM', KEYS[3], 0, ARGV[2]) > 0
  end
end
return done and 'mended' or 'right'
