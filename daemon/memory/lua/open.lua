-- Open a scope's memory for a session, under the session's consolidation lock: from now on no earlier lock may write.
-- Harmless when repeated; refused when late.
--
-- KEYS  1 memory (hash)  2 versions (list)  3 undigested (list)
-- ARGV  1 session  2 fence  3 nonce
-- Returns {'open', what state() gives} or {'behind', the highest fence that was seen},
-- or {'joined', scope} or {'joining', ''}: see elsewhere()

local away = elsewhere(KEYS[1])
if away then return away end
local session = ARGV[1]
local highest = behind(fields_of(KEYS[1], session), ARGV[2], ARGV[3])
if highest then return {'behind', highest} end

redis.call('HSET', KEYS[1], 'fence:' .. session, ARGV[2] .. ' ' .. ARGV[3])
return {'open', state(KEYS[1], KEYS[2], KEYS[3], session)}
