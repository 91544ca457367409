-- Count an occurrence of a reminder among the proactive turns of a day, once.
--
-- KEYS  1 proactive (hash)
-- ARGV  1 the occurrence   2 the person   3 limit of a person (0: none)   4 limit of the bot (0: none)   5 TTL (ms)
-- Returns '' when it may fire, also when it was counted before; else whose limit is reached, 'person' or 'bot'

if redis.call('HEXISTS', KEYS[1], 'fired ' .. ARGV[1]) == 1 then return '' end
local person, bot = 'person ' .. ARGV[2], 'bot'
local function reached(field, limit)
  return limit > 0 and tonumber(redis.call('HGET', KEYS[1], field) or 0) >= limit
end
if reached(person, tonumber(ARGV[3])) then return 'person' end
if reached(bot, tonumber(ARGV[4])) then return 'bot' end

redis.call('HINCRBY', KEYS[1], person, 1)
redis.call('HINCRBY', KEYS[1], bot, 1)
redis.call('HSET', KEYS[1], 'fired ' .. ARGV[1], '1')
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return ''
