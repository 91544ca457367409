-- Keep two memories for one job that joins or parts them: 'joining', of the one that goes, refuses everybody else's
-- writes; 'receiving', of the other, refuses other such jobs. Harmless when repeated or late.
--
-- KEYS  1 memory (hash)
-- ARGV  1 'joining' or 'receiving'  2 job  3 how often it was marked before, as the job has read it
-- Returns {'marked'} (also when it is marked for this job already), {'moved'} (that is no longer so: read it again),
--   {'over'} (the job has done its work here), {'joined', scope} (the memory is another one's by now) or {'busy', job}
--   (another job has it)

local joined, joining, receiving, last, joins =
  unpack(redis.call('HMGET', KEYS[1], 'joined', 'joining', 'receiving', 'last_job', 'joins'))
if joined then return {'joined', joined} end
for _, held in ipairs({joining or '', receiving or ''}) do
  if held ~= '' and held ~= ARGV[2] then return {'busy', held} end
end
if last == ARGV[2] then return {'over'} end
if (joining or receiving) == ARGV[2] then return {'marked'} end
if (joins or '0') ~= ARGV[3] then return {'moved'} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HINCRBY', KEYS[1], 'joins', 1)
return {'marked'}
