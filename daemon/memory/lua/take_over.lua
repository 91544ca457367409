-- Take over what another program remembered: a new MEMORY.md, entries of the history, and notes. Harmless when repeated
-- or late: it names how everything was when it was looked at, so that a second copy finds another state.
--
-- KEYS  1 memory (hash)  2 versions (list)  3 history (list)  4 notes (list)
-- ARGV  1 version that is to be current  2 its checksum  3 entries that the history has  4 notes that there are
--       5 the version (JSON, no number and no text), or '': MEMORY.md stays as it is  6 its text
--       7 how many entries follow  8... the entries, then the notes (JSON)
-- Returns {'done', number of the version that is current now}
-- or {'moved'}: something is another than it was when it was looked at; nothing was written
-- or {'joined', scope} or {'joining', ''}: see elsewhere()

local away = elsewhere(KEYS[1])
if away then return away end
local fields = fields_of(KEYS[1], '')
local notes_base = tonumber(redis.call('HGET', KEYS[1], 'notes_base') or 0)
local entries, notes = fields.history_base + redis.call('LLEN', KEYS[3]), notes_base + redis.call('LLEN', KEYS[4])
if fields.version ~= tonumber(ARGV[1]) or fields.checksum ~= ARGV[2] or entries ~= tonumber(ARGV[3])
  or notes ~= tonumber(ARGV[4]) then
  return {'moved'}
end

local version = fields.version
if ARGV[5] ~= '' then
  redis.call('HDEL', KEYS[1], 'rejected')
  version = put(KEYS[1], KEYS[2], ARGV[5], ARGV[6])
end
local last = 7 + tonumber(ARGV[7])
for at = 8, last do redis.call('RPUSH', KEYS[3], ARGV[at]) end
for at = last + 1, #ARGV do redis.call('RPUSH', KEYS[4], ARGV[at]) end
return {'done', version}
