-- Let a person or a group in, ban one, or lift a ban. Harmless when repeated or late: a decision names the command that
-- it came from, by its place in the order of commands.
--
-- KEYS  1 access (hash)
-- ARGV  1 id of the person or group  2 'paired', 'banned' or 'free'  3 name, or ''  4 who decides  5 time (ISO 8601)
--       6 stream id of the command, or '' for now  7 rulings channel  8 what is published there
-- Returns 'done', 'none' (there was no ban to lift) or 'late' (a newer decision stands)

local at = ARGV[6]
if at == '' then at = string.format('%.0f-0', server_ms()) end
local status = decide(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], at)
if status == 'done' then redis.call('PUBLISH', ARGV[7], ARGV[8]) end
return status
