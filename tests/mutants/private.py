"""Mutants of what is nobody else's to read: modes of files, links, secrets, marks around texts of others."""

from tests.mutants.mutant import mutants_of

_NO_VALUE = "test_no_value_of_an_exception_or_of_a_librarys_line_is_written"
_UNCAUGHT = "test_what_nobody_caught_is_a_line_without_values"
_LOGS = "test_logs_are_their_owners_alone_and_those_of_before_become_so"
_NOT_QUOTED = "test_a_payload_that_cannot_be_read_is_told_by_its_size_and_shape"
_INLINE = "test_a_configuration_with_secrets_that_others_can_read_is_a_warning"
_SEEN = "test_no_form_of_a_text_loses_a_word_or_is_refused"
_PLATFORMS = "test_platforms_get_no_link_that_names_another_address"
_BOTH = "test_a_link_whose_text_names_another_address_shows_both"
_HIDDEN = "test_names_lists_and_terminals_show_no_hidden_characters"

MUTANTS = (
    *mutants_of(
        "daemon/durable.py",
        "unit/test_private_files.py",
        (
            "A folder is its owner's alone.",
            "FOLDER_MODE, FILE_MODE = 0o700,",
            "FOLDER_MODE, FILE_MODE = 0o755,",
            "test_folders_and_files_are_their_owners_alone",
        ),
        (
            "A file is its owner's alone.",
            "FOLDER_MODE, FILE_MODE = 0o700, 0o600",
            "FOLDER_MODE, FILE_MODE = 0o700, 0o644",
            "test_folders_and_files_are_their_owners_alone",
        ),
        (
            "No folder is reached by a link.",
            "_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW",
            "_FOLDER = os.O_RDONLY | os.O_DIRECTORY",
            "test_no_folder_is_reached_by_a_link",
        ),
        (
            "Nothing but a plain file is opened.",
            "    _only_plain(os.stat(name, dir_fd=folder, follow_symlinks=False), name)\n",
            "",
            "test_nothing_but_a_plain_file_is_even_opened",
        ),
        (
            "No file is reached by a link that was swapped in.",
            "_OLD = os.O_NOFOLLOW | os.O_NONBLOCK",
            "_OLD = os.O_NONBLOCK",
            "test_a_link_that_is_swapped_in_after_the_look_is_not_followed",
        ),
        (
            "A file is on the disk before it has its name.",
            "            os.fsync(descriptor)\n        os.replace(DRAFT",
            "        os.replace(DRAFT",
            "test_a_file_is_on_the_disk_before_it_has_its_name_and_then_its_name_is",
        ),
        (
            "The name of a file is on the disk.",
            "        raise\n    os.fsync(folder)\n\n\n@contextmanager\ndef whole_file",
            "        raise\n\n\n@contextmanager\ndef whole_file",
            "test_a_file_is_on_the_disk_before_it_has_its_name_and_then_its_name_is",
        ),
        (
            "A file that is written piece by piece is on the disk before it has its name.",
            "                os.fsync(descriptor)\n        if replace:",
            "                pass\n        if replace:",
            "test_a_file_is_on_the_disk_before_it_has_its_name_and_then_its_name_is",
        ),
    ),
    *mutants_of(
        "daemon/server/server_files.py",
        "unit/test_private_files.py",
        (
            "The folder of the server is closed to others.",
            "            self.folder.chmod(0o700)\n",
            "            pass\n",
            "test_the_folder_of_the_server_and_its_locks_are_their_owners_alone",
        ),
        (
            "A lock is its owner's alone.",
            "os.O_RDWR | os.O_CREAT, 0o600",
            "os.O_RDWR | os.O_CREAT, 0o666",
            "test_the_folder_of_the_server_and_its_locks_are_their_owners_alone",
        ),
        (
            "The mark of who wants the server is its owner's alone.",
            "self.wanted.touch(mode=0o600)",
            "self.wanted.touch()",
            "test_the_folder_of_the_server_and_its_locks_are_their_owners_alone",
        ),
    ),
    *mutants_of(
        "daemon/server/server_files.py",
        "unit/test_private_files.py",
        (
            "A folder of one's own is no link.",
            "folder.is_symlink() or found",
            "found",
            "test_a_folder_of_ones_own_is_no_link_and_nobody_elses",
        ),
        (
            "A folder of one's own is nobody else's.",
            " or found.st_uid != os.geteuid()",
            "",
            "test_a_folder_of_ones_own_is_no_link_and_nobody_elses",
        ),
        (
            "A folder of one's own is closed to others.",
            "            folder.chmod(0o700)\n",
            "            pass\n",
            "test_a_folder_of_ones_own_is_no_link_and_nobody_elses",
        ),
        (
            "The path of a socket is short enough.",
            "<= MAX_SOCKET_BYTES and make_own(place)",
            "<= 9 * MAX_SOCKET_BYTES and make_own(place)",
            "test_the_path_of_a_socket_is_short_enough_wherever_the_runtime_folder_lies",
        ),
    ),
    *mutants_of(
        "daemon/config/secret.py",
        "unit/test_private_files.py",
        (
            "A secret that a group may read is warned of.",
            "_OTHERS_MAY_READ = 0o044",
            "_OTHERS_MAY_READ = 0o004",
            "test_a_secret_that_others_may_read_is_warned_of",
        ),
        (
            "A secret that everybody may read is warned of.",
            "_OTHERS_MAY_READ = 0o044",
            "_OTHERS_MAY_READ = 0o040",
            "test_a_secret_that_others_may_read_is_warned_of",
        ),
        (
            "A password with an @ is starred whole.",
            ':.*@", re.DOTALL)',
            ':.*?@", re.DOTALL)',
            "test_a_password_with_signs_of_an_address_is_starred_whole",
        ),
    ),
    *mutants_of(
        "daemon/config/secret.py",
        "unit/test_config.py",
        (
            "A secret is printed as stars.",
            'return STARS if self._text else ""',
            "return self._text",
            "test_a_secret_is_stars_wherever_it_is_printed",
        ),
        (
            "A secret is shown as stars.",
            "return f\"Secret('{self}')\"",
            "return f\"Secret('{self._text}')\"",
            "test_a_secret_is_stars_wherever_it_is_printed",
        ),
        (
            "A secret is encoded as stars.",
            "        return str(value)\n",
            "        return value.reveal()\n",
            "test_a_secret_is_stars_wherever_it_is_printed",
        ),
        (
            "A password in a query is starred.",
            '_QUERY_PASSWORD.sub(rf"\\1{STARS}", _USER_INFO.sub(rf"\\1:{STARS}@", url.reveal()))',
            '_USER_INFO.sub(rf"\\1:{STARS}@", url.reveal())',
            "test_only_the_password_of_an_address_is_starred",
        ),
        (
            "An empty file holds no secret.",
            "    if not text:\n        raise",
            "    if False:\n        raise",
            "test_an_unusable_secret_file_is_named_and_never_quoted",
        ),
    ),
    *mutants_of(
        "workers/tools/file_access.py",
        "unit/test_private_files.py",
        (
            "The folders of a scope's files are their owner's alone.",
            "FOLDER_MODE, FILE_MODE = 0o700,",
            "FOLDER_MODE, FILE_MODE = 0o755,",
            "test_files_that_tools_write_are_their_owners_alone",
        ),
        (
            "A path of a tool has a largest length.",
            "PATH_MAX_CHARS = 1_024",
            "PATH_MAX_CHARS = 1_025",
            "test_a_path_of_a_tool_has_a_largest_length",
        ),
    ),
    *mutants_of(
        "workers/tools/file_access.py",
        "unit/test_tools_files.py",
        (
            "Tools follow no link that is swapped in.",
            "_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW",
            "_FOLDER = os.O_RDONLY | os.O_DIRECTORY",
            "test_a_link_that_is_swapped_in_between_look_and_use_is_not_followed",
        ),
        (
            "Tools write no skills.",
            'root=("skills",), names=names[1:], writable=False)',
            'root=("skills",), names=names[1:], writable=True)',
            "test_skills_and_the_scopes_memory_can_be_read_and_not_written",
        ),
        (
            "Tools write no memory.",
            "root=self._memory, names=names[1:], writable=False)",
            "root=self._memory, names=names[1:], writable=True)",
            "test_skills_and_the_scopes_memory_can_be_read_and_not_written",
        ),
        (
            "Tools of the workspace's scope see no other scope's memory.",
            "if self._flat and len(names) > 2:",
            "if False:",
            "test_the_memory_of_the_workspace_holds_no_other_scopes",
        ),
        (
            "Tools of a scope see its own memory.",
            '("memory",) if self._flat else ("memory", name)',
            '("memory",)',
            "test_whatever_is_written_for_a_path_leads_nowhere_else",
        ),
    ),
    *mutants_of(
        "daemon/model/untrusted_text.py",
        "unit/test_private_files.py",
        (
            "The mark around a text stands nowhere in it.",
            "if not any(mark in text for text in lowered)",
            "if True",
            "test_the_mark_around_a_text_stands_nowhere_in_it",
        ),
        (
            "The mark around a text stands nowhere in it in capital letters.",
            "lowered = [text.lower() for text in texts]",
            "lowered = list(texts)",
            "test_the_mark_around_a_text_stands_nowhere_in_it",
        ),
    ),
    *mutants_of(
        "channels/link_spoofing.py",
        "unit/test_link_texts.py",
        (
            "A part before the @ is no host.",
            "([a-z0-9.-]+(?::\\d+)?)(?![^/?#])",
            "([a-z0-9.-]+(?::\\d+)?)",
            _BOTH,
        ),
        ("A path that is named is the target's.", 'named[3] in ("", "/") or ', 'named[3] != "x" or ', _BOTH),
        ("A scheme that is named is the target's.", "(named[1] and named[1] != real[1])", "False", _BOTH),
        ("A host in other letters is shown in Punycode.", "_in_ascii(text[behind:at])", "text[behind:at]", _BOTH),
        ("Characters that show nothing hide no address.", 'INVISIBLE.sub("", _MARKUP', "str(_MARKUP", _BOTH),
        (
            "Brackets in code hide no address.",
            "opened[0] if opened else first",
            "opened[-1] if opened else first",
            _BOTH,
        ),
        ("A definition becomes text.", 'pieces += (text[at:behind], " ")\n                at = behind', "pass", _BOTH),
        ("Links that act in an app are text.", "scheme[0] not in SCHEMES", "scheme[0] in ()", _BOTH),
        (
            "A host alone may stand for its pages.",
            'named[3] in ("", "/") or ',
            "",
            "test_other_links_and_code_stay_as_they_are",
        ),
    ),
    *mutants_of(
        "channels/telegram/message_sender.py",
        "integration/test_telegram.py",
        (
            "The platform fetches no previews.",
            "{} if upload else NO_PREVIEW",
            "{}",
            "test_no_form_of_a_text_and_no_edit_lets_the_platform_fetch_an_address",
        ),
    ),
    *mutants_of(
        "channels/telegram/text_forms.py",
        "unit/test_link_texts.py",
        (
            "Telegram gets honest links.",
            "honest(text))",
            "text)",
            _PLATFORMS,
        ),
        (
            "An address that acts within Telegram is no link.",
            '\\\\g<0>\\u2060"',
            '\\\\g<0>"',
            "test_an_address_that_acts_within_telegram_is_text",
        ),
    ),
    *mutants_of(
        "channels/telegram/text_forms.py",
        "unit/test_telegram_seen.py",
        ("An escaped backtick begins no code.", 'rf"\\\\.|{_ADDRESS}|(`+)', 'rf"{_ADDRESS}|(`+)', _SEEN),
        ("A backtick in an address begins no code.", "|{_ADDRESS}|(`+)", "|(`+)", _SEEN),
        ("Backticks that nothing ends begin no code.", '|`+", re.DOTALL', '", re.DOTALL', _SEEN),
        ("A tag in code of several lines is text.", ' and "\\n" not in code[0]', "", _SEEN),
        ("Code ends with its cell.", '"|".join(map(_plain_signs, row.split("|")))', "_plain_signs(row)", _SEEN),
        ("An escaped line in a row leaves no code.", '_escaped(row) if "\\\\|" in row else ', "", _SEEN),
    ),
    *mutants_of(
        "channels/telegram/markdown.py",
        "unit/test_telegram_seen.py",
        ("A tag begins no block.", '"html": False, ', "", _SEEN),
    ),
    *mutants_of(
        "channels/slack/text_forms.py",
        "unit/test_link_texts.py",
        ("An address that acts in an app is text on Slack.", "|(?!https?:)[a-z][a-z0-9+.-]*://)", ")", _PLATFORMS),
        (
            "Slack gets honest links.",
            'honest(_blank_lines.sub("", text))',
            '_blank_lines.sub("", text)',
            _PLATFORMS,
        ),
    ),
    *mutants_of(
        "daemon/log.py",
        "unit/test_log.py",
        ("A traceback has no values.", "(said := brief(error))", "(said := str(error))", _NO_VALUE),
        ("A line of a library has no values.", '"msg": said', '"msg": record.getMessage()', _NO_VALUE),
        ("An uncaught exception is a line.", "sys.excepthook = _uncaught", "pass", _UNCAUGHT),
        ("A warning is a line.", "logging.captureWarnings(capture=True)", "pass", _UNCAUGHT),
    ),
    *mutants_of(
        "daemon/log.py",
        "unit/test_private_files.py",
        ("A log is its owner's alone.", "_APPEND, FILE_MODE)", "_APPEND, 0o666)", _LOGS),
        ("Logs of before are closed.", "        _tighten(folder)\n", "", _LOGS),
    ),
    *mutants_of(
        "daemon/model/answer_parts.py",
        "unit/test_private_files.py",
        (
            "A payload is not quoted.",
            "cannot be parsed ({_shape(payload)})",
            "cannot be parsed ({payload.decode(errors='replace')})",
            _NOT_QUOTED,
        ),
    ),
    *mutants_of(
        "channels/telegram/api_types.py",
        "unit/test_outcomes.py",
        (
            "Words of the Bot API are in no log.",
            'if known else text, f"{text}: {said}"',
            'if known else f"{text}: {said}", f"{text}: {said}"',
            "test_what_the_bot_api_refuses",
        ),
    ),
    *mutants_of(
        "channels/slack/api_types.py",
        "unit/test_outcomes.py",
        (
            "Words of the Web API are in no log.",
            "{error if _is_code(error) else answer.status}",
            "{error}",
            "test_what_the_web_api_refuses",
        ),
    ),
    *mutants_of(
        "daemon/cli/doctor/machine_checks.py",
        "unit/test_private_files.py",
        (
            "A data directory that others can enter is reported.",
            "if state.st_mode & OTHERS:",
            "if state.st_mode & 0o007:",
            "test_a_data_directory_that_others_can_enter_is_a_finding_and_told_at_the_start",
        ),
        (
            "A data directory of another user is reported.",
            "if state.st_uid not in (0, os.geteuid()):",
            "if False:",
            "test_a_data_directory_of_another_user_is_a_finding",
        ),
    ),
    *mutants_of(
        "daemon/cli/run_command.py",
        "unit/test_private_files.py",
        (
            "An open data directory is told at the start.",
            "if warned := open_to_others(data_dir):",
            'if warned := "":',
            "test_a_data_directory_that_others_can_enter_is_a_finding_and_told_at_the_start",
        ),
    ),
    *mutants_of(
        "daemon/cli/__init__.py",
        "unit/test_private_files.py",
        (
            "What a command creates is its user's alone.",
            "    os.umask(PRIVATE)\n",
            "",
            "test_a_command_creates_files_for_its_user_alone",
        ),
    ),
    *mutants_of(
        "daemon/config/config_loader.py",
        "unit/test_config.py",
        ("Secrets in an open configuration are reported.", "if file and inline and", "if False and file and", _INLINE),
        ("A configuration without secrets may be open.", "if file and inline and", "if file and", _INLINE),
    ),
    *mutants_of(
        "daemon/config/secret.py",
        "unit/test_private_files.py",
        (
            "A short key is no secret.",
            "if len(secret.reveal()) >= SECRET_MIN_CHARS",
            "if secret",
            "test_a_short_key_garbles_no_words_and_a_long_one_is_starred",
        ),
    ),
    *mutants_of(
        "workers/tools/mcp/redaction.py",
        "unit/test_private_files.py",
        (
            "A short key of a tool server is no secret.",
            "if len(text) >= SECRET_MIN_CHARS)",
            "if text)",
            "test_a_short_key_garbles_no_words_and_a_long_one_is_starred",
        ),
    ),
    *mutants_of(
        "daemon/cli/output/table_output.py",
        "unit/test_hidden_characters.py",
        ("A cell of a table is one line.", "one_line(str(value))", "printable(str(value))", _HIDDEN),
        ("A line of a command is printable.", "click.echo(printable(text))", "click.echo(text)", _HIDDEN),
    ),
    *mutants_of(
        "daemon/cli/root_command.py",
        "unit/test_hidden_characters.py",
        ("An error is printable.", "{printable(translated(text))}", "{translated(text)}", _HIDDEN),
    ),
    *mutants_of(
        "channels/inbound.py",
        "unit/test_hidden_characters.py",
        ("A name is cleaned when a message is accepted.", "one_line(sender_name)", "sender_name", _HIDDEN),
    ),
    *mutants_of(
        "channels/arrival.py",
        "unit/test_hidden_characters.py",
        ("The name of a sender is cleaned.", "name=_clean(arrival.sender.name)", "name=arrival.sender.name", _HIDDEN),
        (
            "The name of a quoted person is cleaned.",
            "_clean(arrival.quote.sender_name)",
            "arrival.quote.sender_name",
            _HIDDEN,
        ),
        ("The name of a file is cleaned.", "name=one_line(each.name)", "name=each.name", _HIDDEN),
    ),
    *mutants_of(
        "channels/intake/intake.py",
        "integration/test_intake.py",
        (
            "What arrives is cleaned.",
            "arrival, correlation = cleaned(arrival), ",
            "arrival, correlation = arrival, ",
            "test_names_are_cleaned_when_they_arrive",
        ),
    ),
    *mutants_of(
        "channels/name_directory.py",
        "unit/test_hidden_characters.py",
        (
            "A name on Slack or Feishu is cleaned.",
            "one_line(sound(text[: 4 * NAME_MAX_CHARS]))",
            "sound(text[: 4 * NAME_MAX_CHARS])",
            _HIDDEN,
        ),
    ),
    *mutants_of(
        "channels/telegram/updates.py",
        "unit/test_hidden_characters.py",
        (
            "The name of a forwarded person is cleaned.",
            "one_line(message.forward_origin.name)",
            "message.forward_origin.name",
            _HIDDEN,
        ),
    ),
)
