-- Work an entry into MEMORY.md after all. The entry stays in the history. Harmless when repeated or late: it names
-- the version, and once it is done the entry is undigested no more.
--
-- KEYS  1 memory (hash)  2 versions (list)  3 undigested (list)
-- ARGV  1 session  2 fence  3 nonce  4 index of the entry in the history  5 version opened  6 its checksum
--       7 the version (JSON, no number and no text), or '' when nothing changes  8 its text
-- Returns {status, what state() gives, ...}
--   done       written; also when it was done before
--   version    refused: MEMORY.md is another one than was opened; last come its versions from the opened one on
-- or {'lost'}: somebody else has the session's lock
-- or {'joined', scope} or {'joining', ''}: see elsewhere()

local session = ARGV[1]
local fields = fields_of(KEYS[1], session)
local function answer(status) return {status, state(KEYS[1], KEYS[2], KEYS[3], session)} end

local away = elsewhere(KEYS[1])
if away then return away end
if behind(fields, ARGV[2], ARGV[3]) then return {'lost'} end
if not redis.call('LPOS', KEYS[3], ARGV[4]) then return answer('done') end
if fields.version ~= tonumber(ARGV[5]) or fields.checksum ~= ARGV[6] then
  local refused = answer('version')
  refused[3] = since(KEYS[2], ARGV[5], fields)
  return refused
end

if ARGV[7] ~= '' and ARGV[8] ~= fields.text then put(KEYS[1], KEYS[2], ARGV[7], ARGV[8]) end
redis.call('LREM', KEYS[3], 0, ARGV[4])
pin(KEYS[1], session)
return answer('done')
