-- Take a consolidated range into a scope's memory: its history entry, maybe a new MEMORY.md, and the position behind
-- it, all or nothing. Harmless when repeated or late: it names the position it begins at.
--
-- KEYS  1 memory (hash)  2 history (list)  3 versions (list)  4 undigested (list)
-- ARGV  1 session  2 fence  3 nonce  4 set-backs when it was opened
--       5 first message of the range  6 one past its last  7 mark of its last  8 entry (JSON)  9 kind of the entry
--      10 version opened  11 its checksum  12 the new version (JSON, no number and no text), or ''  13 its text
--      14 a rejected version, or ''  15 its text  16 '1' when MEMORY.md is still to learn what the entry says
-- Returns {status, what state() gives, ...}
--   done       written; also when this very call had arrived before
--   version    refused: MEMORY.md is another one than was opened; last come its versions from the opened one on
--   misplaced  refused: the range does not begin where the memory ends
-- or {'lost'}: somebody else has the session's lock
-- or {'joined', scope} or {'joining', ''}: see elsewhere()

local session, fence, nonce = ARGV[1], ARGV[2], ARGV[3]
local fields = fields_of(KEYS[1], session)
local name = nonce .. ' ' .. ARGV[4] .. ' ' .. ARGV[5] .. ' ' .. ARGV[6]
local function answer(status) return {status, state(KEYS[1], KEYS[3], KEYS[4], session)} end

local away = elsewhere(KEYS[1])
if away then return away end
if behind(fields, fence, nonce) then return {'lost'} end
if fields.applied == name then return answer('done') end
-- A position is passed once between two set-backs, so a copy that comes late finds another one.
if fields.set_backs ~= tonumber(ARGV[4]) or fields.upto ~= tonumber(ARGV[5]) then return answer('misplaced') end
if ARGV[12] ~= '' and (fields.version ~= tonumber(ARGV[10]) or fields.checksum ~= ARGV[11]) then
  local refused = answer('version')
  refused[3] = since(KEYS[3], ARGV[10], fields)
  return refused
end

local index = fields.history_base + redis.call('RPUSH', KEYS[2], ARGV[8]) - 1
if ARGV[16] ~= '' then redis.call('RPUSH', KEYS[4], index) end
-- A summary was asked for with the rejected text in the request: that is done with.
if ARGV[9] == 'summary' then redis.call('HDEL', KEYS[1], 'rejected') end
if ARGV[12] ~= '' and ARGV[13] ~= fields.text then put(KEYS[1], KEYS[3], ARGV[12], ARGV[13]) end
if ARGV[14] ~= '' then put(KEYS[1], KEYS[3], ARGV[14], ARGV[15]) end
redis.call('HSET', KEYS[1], 'upto:' .. session, ARGV[6], 'mark:' .. session, ARGV[7], 'applied:' .. session, name,
  'fence:' .. session, fence .. ' ' .. nonce)
pin(KEYS[1], session)
return answer('done')
