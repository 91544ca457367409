-- Append what a flush found worth keeping: to MEMORY.md, as a version, and to the notes. Once a cycle; harmless when
-- repeated or late.
--
-- KEYS  1 memory (hash)  2 versions (list)  3 notes (list)  4 undigested (list)
-- ARGV  1 session  2 fence  3 nonce  4 set-backs when it was opened  5 cycle
--       6 the version (JSON, no number and no text)  7 what to append, or ''  8... notes (JSON)
-- Returns {status, what state() gives}
--   done       written
--   over       refused: this cycle, or a later one, was flushed before, maybe by this very call
--   misplaced  refused: the session was set back since
-- or {'lost'}: somebody else has the session's lock
-- or {'joined', scope} or {'joining', ''}: see elsewhere()

local session, cycle, added = ARGV[1], tonumber(ARGV[5]), ARGV[7]
local fields = fields_of(KEYS[1], session)
local function answer(status) return {status, state(KEYS[1], KEYS[2], KEYS[4], session)} end

local away = elsewhere(KEYS[1])
if away then return away end
if behind(fields, ARGV[2], ARGV[3]) then return {'lost'} end
if fields.set_backs ~= tonumber(ARGV[4]) then return answer('misplaced') end
if fields.flushed >= cycle then return answer('over') end

if added ~= '' then
  local text = string.match(fields.text, '^.*%S')
  put(KEYS[1], KEYS[2], ARGV[6], text and text .. '\n\n' .. added or added)
end
for at = 8, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[at]) end
redis.call('HSET', KEYS[1], 'flushed:' .. session, cycle, 'fence:' .. session, ARGV[2] .. ' ' .. ARGV[3])
return answer('done')
