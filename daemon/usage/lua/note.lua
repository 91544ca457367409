-- Add what a claim of a turn, or a model call, has used to the day's accounts, once: it is named. What was reserved under
-- that name is released.
--
-- KEYS  1 noted (hash)  2 of bots (hash)  3 of persons (hash)  4 of sessions (hash)  5 of models (hash)
--       6 reserved (hash, see reserved.part.lua)
-- ARGV  1 its name  2 TTL of the accounts (ms)  3 TTL of noted (ms)
--       4... what to add, three each: number of the key, field, amount
-- Returns 'noted', or 'over' when it was noted before, also by this very call

-- One write a key, for each is a line in the append-only file. Sums stay exact up to 2^53.
local function add(account_key, fields, amounts)
  if #fields == 0 then return end
  local sums, words = redis.call('HMGET', account_key, unpack(fields)), {}
  for at, field in ipairs(fields) do
    words[#words + 1] = field
    words[#words + 1] = string.format('%.0f', tonumber(sums[at] or 0) + amounts[at])
  end
  redis.call('HSET', account_key, unpack(words))
end

local function kept(account_key, ttl)
  -- Once: each time would be one more line in the append-only file.
  if redis.call('PTTL', account_key) < 0 then redis.call('PEXPIRE', account_key, ttl) end
end

if redis.call('HSETNX', KEYS[1], ARGV[1], '1') == 0 then return 'over' end
released(KEYS[6], ARGV[1])
local fields, amounts = {{}, {}, {}, {}, {}}, {{}, {}, {}, {}, {}}
for at = 4, #ARGV, 3 do
  local number = tonumber(ARGV[at])
  table.insert(fields[number], ARGV[at + 1])
  table.insert(amounts[number], tonumber(ARGV[at + 2]))
end
add(KEYS[2], fields[2], amounts[2])
add(KEYS[3], fields[3], amounts[3])
add(KEYS[4], fields[4], amounts[4])
add(KEYS[5], fields[5], amounts[5])
kept(KEYS[1], ARGV[3])
kept(KEYS[2], ARGV[2])
kept(KEYS[3], ARGV[2])
kept(KEYS[4], ARGV[2])
kept(KEYS[5], ARGV[2])
return 'noted'
