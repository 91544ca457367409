"""Mutants of the contract of channels: each breaks a promise of the testing channel, which the contract notices."""

from tests.mutants.mutant import Mutant

CONTRACT = "contract/test_testing.py::TestTestingChannel::"

MUTANTS = (
    Mutant(
        rule="A part whose answer was lost is not sent again by the adapter.",
        file="channels/http_post.py",
        old="        raise SendUnknown(\n",
        new=("        return await client.post(url, content=content, timeout=timeout_s)\n        raise SendUnknown(\n"),
        caught_by=CONTRACT + "test_what_became_of_a_part_that_went_wrong_is_told_apart",
    ),
    Mutant(
        rule="A part whose answer was lost is not said to be unsent.",
        file="channels/http_post.py",
        old="        raise SendUnknown(\n",
        new="        raise SendRefused(\n",
        caught_by=CONTRACT + "test_what_became_of_a_part_that_went_wrong_is_told_apart",
    ),
    Mutant(
        rule="An edit of a message that is gone is an error.",
        file="channels/testing/channel.py",
        old="        check(await self.post(post, timeout_s))",
        new="        await self.post(post, timeout_s)",
        caught_by=CONTRACT + "test_what_is_gone_cannot_be_edited",
    ),
    Mutant(
        rule="What was sent has the platform's id.",
        file="channels/testing/channel.py",
        old="            return _decode(response.content).id\n",
        new='            return "sent"\n',
        caught_by=CONTRACT + "test_what_is_sent_is_shown_once_and_has_an_id",
    ),
    Mutant(
        rule="A file that cannot be fetched is never in doubt.",
        file="channels/testing/channel.py",
        old='raise SendRefused(\n                f"the file could not be downloaded from',
        new='raise SendUnknown(\n                f"the file could not be downloaded from',
        caught_by=CONTRACT + "test_a_file_that_cannot_be_had_is_never_in_doubt",
    ),
    Mutant(
        rule="A platform that does not know the bot is not called healthy.",
        file="channels/testing/channel.py",
        old='ok=False, text=f"{error}.',
        new='ok=True, text=f"{error}.',
        caught_by=CONTRACT + "test_who_is_not_known_is_told_what_to_do",
    ),
    Mutant(
        rule="What is sent to a thread is shown in it.",
        file="channels/testing/channel.py",
        old="    return _Post(\n        session=str(chat),",
        new="    return _Post(\n        session=str(SessionKey(channel=chat.channel, chat=chat.chat)),",
        caught_by=CONTRACT + "test_what_is_sent_to_a_thread_is_shown_and_changed_there_alone",
    ),
    Mutant(
        rule="A text is never longer than its parts together.",
        file="channels/testing/channel.py",
        old="        return len(text)\n",
        new="        return len(text.encode()) // 2\n",
        caught_by=CONTRACT + "test_its_length_grows_with_the_text_and_is_never_less_than_its_parts",
    ),
    Mutant(
        rule="What people say is handed in.",
        file="channels/testing/channel.py",
        old="            await Updates(self.name, self._config.updates_url, self._client).hand_in(intake)",
        new="            await anyio.sleep(0.0)",
        caught_by=CONTRACT + "test_what_is_said_is_handed_in",
    ),
    Mutant(
        rule="What was sent is found.",
        file="channels/testing/channel.py",
        old="        return (await self._ask(asked, timeout_s)).id",
        new='        return ""',
        caught_by=CONTRACT + "test_what_nobody_knows_is_found_out_by_looking",
    ),
    Mutant(
        rule="A part is found by its number.",
        file="channels/testing/channel.py",
        old="        asked = _Find(session=str(chat), reply=part.reply, part=part.number,",
        new="        asked = _Find(session=str(chat), reply=part.reply, part=0,",
        caught_by=CONTRACT + "test_what_was_not_sent_is_not_found",
    ),
    Mutant(
        rule="A text that is being written is not found as the part.",
        file="channels/testing/channel.py",
        old="preview=part.preview)",
        new="preview=True)",
        caught_by=CONTRACT + "test_a_text_that_is_being_written_is_found_as_that_and_not_as_the_part",
    ),
    Mutant(
        rule="A search that fails is never in doubt.",
        file="channels/testing/channel.py",
        old='            raise SendRefused(f"the test platform did not answer a query: {error}") from error',
        new='            raise SendUnknown(f"the test platform did not answer a query: {error}") from error',
        caught_by=CONTRACT + "test_who_cannot_look_is_never_in_doubt",
    ),
    Mutant(
        rule="Outside of threads nothing is looked back at.",
        file="channels/testing/channel.py",
        old="        if not inbound.thread:",
        new="        if False:",
        caught_by=CONTRACT + "test_outside_of_threads_there_is_nothing_to_look_back_at",
    ),
    Mutant(
        rule="What is being written can begin afresh.",
        file="channels/testing/channel.py",
        old='        post = msgspec.structs.replace(_post(chat, part), kind="edit", id=platform_id)',
        new=(
            '        self.shown = part.text if part.text.startswith(getattr(self, "shown", "")) else '
            "self.shown + part.text\n        post = msgspec.structs.replace(_post(chat, part), "
            'kind="edit", id=platform_id, text=self.shown)'
        ),
        caught_by=CONTRACT + "test_a_text_that_is_being_written_can_begin_afresh",
    ),
    Mutant(
        rule="A chat that waits holds up no other.",
        file="channels/batch.py",
        old="            tg.start_soon(in_order, said)",
        new="            await in_order(said)",
        caught_by=CONTRACT + "test_a_chat_that_waits_holds_up_no_other_and_keeps_its_order",
    ),
    Mutant(
        rule="Messages of a chat are handed in one behind the other.",
        file="channels/batch.py",
        old="            chats[arrival.chat].append((place, arrival))",
        new="            chats[arrival.seen_as].append((place, arrival))",
        caught_by=CONTRACT + "test_a_chat_that_waits_holds_up_no_other_and_keeps_its_order",
    ),
    Mutant(
        rule="What could not be kept is not dealt with.",
        file="channels/batch.py",
        old="        for place, _ in said[:taken]:",
        new="        for place, _ in said:",
        caught_by=CONTRACT + "test_what_cannot_be_kept_just_now_is_handed_in_again",
    ),
    Mutant(
        rule="What was only read is not confirmed.",
        file="channels/testing/channel.py",
        old="            found.append((update.number, self._arrival(update)))",
        new=(
            "            found.append((update.number, self._arrival(update)))\n            await "
            'self._client.get(self._url, params={"after": update.number, "wait_s": 0.0})'
        ),
        caught_by=CONTRACT + "test_nothing_is_dealt_with_before_it_was_taken",
    ),
)
