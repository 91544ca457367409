"""Mutants of the files that people point at, and of recordings and albums."""

from tests.mutants.mutant import mutants_of

_CONTENT = "integration/test_content.py"
_FORGOTTEN = "test_a_person_is_forgotten_with_overheard_messages_and_files"
_THREAD = "test_the_files_of_the_message_that_a_thread_is_about_come_along"

MUTANTS = (
    *mutants_of(
        "channels/quoted_message.py",
        "unit/test_media.py",
        (
            "The bot is lent no recording of its own.",
            'if file.kind != "voice"',
            "if file.kind",
            "test_a_quoted_message_lends_so_many_files_and_the_bot_no_recording",
        ),
        (
            "A quoted message lends only so many files.",
            "files[:FILES_MAX]",
            "files",
            "test_a_quoted_message_lends_so_many_files_and_the_bot_no_recording",
        ),
        (
            "A quote of an unknown sender is not one of the bot.",
            "sender.name or sender.id or UNKNOWN",
            "sender.name or sender.id",
            "test_a_quote_names_the_files_and_never_passes_for_the_bots",
        ),
    ),
    *mutants_of(
        "channels/intake/group_messages.py",
        "integration/test_intake.py",
        (
            "All parts of an album are for the bot if one of them is.",
            'return "asked" if album in self._known else place',
            "return place",
            "test_all_later_parts_of_an_album_are_for_the_bot_if_one_of_them_is",
        ),
    ),
    *mutants_of(
        "channels/outbox/reply_parts.py",
        "unit/test_contents.py",
        (
            "A recording is a message of its own.",
            'is_alone = file.kind == "voice"',
            "is_alone = False",
            "test_files_share_a_message_where_the_platform_takes_them_together",
        ),
        (
            "The files of a message are not larger than the largest file.",
            " or file.size_bytes > room_bytes",
            "",
            "test_files_share_a_message_where_the_platform_takes_them_together",
        ),
    ),
    *mutants_of(
        "channels/discord/message_sender.py",
        "contract/test_discord.py",
        (
            "A recording goes as a file where no voice message is allowed.",
            "if no.code not in NO_VOICE:",
            "if no.code:",
            "TestDiscord::test_where_no_voice_message_is_allowed_a_recording_is_a_file",
        ),
    ),
    *mutants_of(
        "channels/discord/discord_events.py",
        "contract/test_discord.py",
        (
            "Nobody else's answer brings files along.",
            "if answered is not None and mentioned else ()",
            "if answered is not None else ()",
            "TestDiscord::test_an_answer_brings_along_the_files_of_the_message_that_it_answers",
        ),
    ),
    *mutants_of(
        "workers/agent/file_intake.py",
        _CONTENT,
        (
            "Only the newest overheard files are fetched.",
            "islice(found, OVERHEARD_MAX)",
            "found",
            "test_pictures_that_were_overheard_are_shown_to_who_is_asked_about_them",
        ),
        (
            "Recordings that come together open one connection to the transcription server.",
            "        async with self._opening:",
            "        if True:",
            "test_recordings_and_documents_that_were_overheard_are_there_for_who_is_asked_about_them",
        ),
        (
            "Nothing is overheard for a model without eyes.",
            "if turn.kit.prompts.bot.model.vision:",
            "if True:",
            "test_overheard_pictures_are_not_fetched_for_a_model_without_eyes",
        ),
    ),
    *mutants_of(
        "daemon/forget/sweep.py",
        _CONTENT,
        (
            "A person's files that others replied to are forgotten.",
            "        marks |= {person_mark(session, person) for person in people}",
            "        marks |= set()",
            _FORGOTTEN,
        ),
    ),
    *mutants_of(
        "daemon/forget/side_data_removal.py",
        _CONTENT,
        (
            "A forgotten word takes the files of overheard messages along.",
            "                marks.add(overheard_mark(session, entry.person, entry.time))",
            "                pass",
            "test_a_word_that_was_overheard_or_quoted_is_forgotten",
        ),
    ),
    *mutants_of(
        "workers/agent/thread_backfill.py",
        "integration/test_looking_back.py",
        (
            "The first message of a thread lends its files.",
            "attachments = (*inbound.attachments, *lent)",
            "attachments = inbound.attachments",
            _THREAD,
        ),
    ),
    *mutants_of(
        "workers/agent/spoken_answer.py",
        _CONTENT,
        (
            "A recording that somebody else made is not answered by voice.",
            "for file in said.attachments if not file.sender_id]",
            "for file in said.attachments]",
            "test_a_recording_that_is_replied_to_is_not_answered_by_voice",
        ),
    ),
)
