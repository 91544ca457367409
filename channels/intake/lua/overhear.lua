-- Keep something that was said in a group and not to the bot, for when it is asked. The newest stay.
-- Harmless when repeated; what comes when a later message was asked already is not kept any more.
--
-- The member '' stands for what the bot was asked last: its score is the order of that.
--
-- KEYS  1 overheard (zset)
-- ARGV  1 order  2 id  3 what was said (JSON)  4 most of them  5 most characters of all together  6 TTL (ms)
--       7 'edited': only in the place of what stands there under this id, or ''
-- Returns 'kept', or 'late' (it was asked already, or is there no more)

local asked = redis.call('ZSCORE', KEYS[1], '')
if asked and tonumber(ARGV[1]) <= tonumber(asked) then return 'late' end

local function text_of(member)
  local ok, value = pcall(cjson.decode, member)
  if not ok or type(value) ~= 'table' then return nil, '' end
  return value.id, value.text or ''
end

local members, stood = redis.call('ZRANGE', KEYS[1], 0, -1), nil
for _, member in ipairs(members) do
  if member ~= '' and text_of(member) == ARGV[2] then stood = member end
end
if ARGV[7] == 'edited' and not stood then return 'late' end
if stood then redis.call('ZREM', KEYS[1], stood) end
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[6])

-- From the newest on, as far as there is room.
local count, chars = 0, 0
for _, member in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, -1)) do
  if member ~= '' then
    local _, text = text_of(member)
    -- Bytes that continue a character do not count.
    chars = chars + #string.gsub(text, '[\128-\191]', '')
    count = count + 1
    if count > tonumber(ARGV[4]) or chars > tonumber(ARGV[5]) then redis.call('ZREM', KEYS[1], member) end
  end
end
return 'kept'
