-- Make MEMORY.md without what is to be forgotten the newest version, if it is still the one that was read. Also of a
-- memory that was joined with another and waits for being separated again. Harmless when repeated or late: the version
-- has moved by then.
--
-- KEYS  1 memory (hash)  2 versions (list)
-- ARGV  1 version that is to be current  2 its checksum  3 the version (JSON, no number and no text)  4 its text
-- Returns 'done', or 'moved': it is another one

local fields = fields_of(KEYS[1], '')
if fields.version ~= tonumber(ARGV[1]) or fields.checksum ~= ARGV[2] then return 'moved' end
put(KEYS[1], KEYS[2], ARGV[3], ARGV[4])
return 'done'
