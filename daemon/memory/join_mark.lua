-- Keep two memories for one job that joins or parts them: 'joining', of the one that goes, refuses everybody else's
-- writes; 'receiving', of the other, refuses other such jobs. Harmless when repeated or late.
--
-- KEYS  1 memory (hash)
-- ARGV  1 'joining' or 'receiving'  2 job
-- Returns {'marked'}, {'over'} (the job has done its work here), {'joined', scope} (the memory is another one's by now)
--   or {'busy', job} (another job has it)

local joined, joining, receiving, last =
  unpack(redis.call('HMGET', KEYS[1], 'joined', 'joining', 'receiving', 'last_job'))
if joined then return {'joined', joined} end
for _, held in ipairs({joining or '', receiving or ''}) do
  if held ~= '' and held ~= ARGV[2] then return {'busy', held} end
end
if last == ARGV[2] then return {'over'} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {'marked'}
