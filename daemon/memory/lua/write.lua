-- Make a person's text the newest version of MEMORY.md, if it still is the one that he saw. Harmless when repeated or
-- late: the version has moved by then.
--
-- KEYS  1 memory (hash)  2 versions (list)
-- ARGV  1 version that is to be current  2 its checksum  3 the version (JSON, no number and no text)  4 its text
-- Returns {'done', its number} or {'version', the versions from that one on},
-- or {'joined', scope} or {'joining', ''}: see elsewhere()

local away = elsewhere(KEYS[1])
if away then return away end
local fields = fields_of(KEYS[1], '')
if fields.version ~= tonumber(ARGV[1]) or fields.checksum ~= ARGV[2] then
  return {'version', since(KEYS[2], ARGV[1], fields)}
end

redis.call('HDEL', KEYS[1], 'rejected')
return {'done', put(KEYS[1], KEYS[2], ARGV[3], ARGV[4])}
