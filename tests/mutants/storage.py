"""Mutants of the checks before a start, the archive's stores, and the schema."""

from tests.mutants.mutant import mutants_of

_DAMAGE = "test_damage_is_told_and_mended_and_other_sessions_are_answered"
_FAULTS = "test_all_faults_of_a_configuration_are_listed_before_a_port_opens"

MUTANTS = (
    *mutants_of(
        "daemon/cli/preflight.py",
        "integration/test_cli.py",
        ("The folders are checked before a port opens.", "if not there.is_dir():", "if False:", _FAULTS),
        ("The archive is checked before a port opens.", "    yield from _archive(config)\n", "", _FAULTS),
        ("The proxies are checked before a port opens.", "            proxy_of(each.base_url)\n", "", _FAULTS),
    ),
    *mutants_of(
        "workers/agent/bot_checks.py",
        "integration/test_cli.py",
        (
            "The names of tools are checked before a port opens.",
            'return [("tools", str(error).rstrip("."))]',
            "return []",
            _FAULTS,
        ),
        (
            "The room for tools is checked before a port opens.",
            "<= bot.model.budget_tokens",
            ">= 0",
            _FAULTS,
        ),
    ),
    *mutants_of(
        "daemon/config/config_rules.py",
        "integration/test_cli.py",
        ("Each server has its own port.", "    yield from _ports(config)\n", "", _FAULTS),
    ),
    *mutants_of(
        "daemon/config/config_loader.py",
        "integration/test_cli.py",
        ("Faults of the machine are listed with the others.", "if fault.path not in broken_paths", "if False", _FAULTS),
    ),
    *mutants_of(
        "daemon/clock.py",
        "unit/test_render.py",
        (
            "Times in the repeated hour have their offset.",
            "if is_repeated else text[:16]",
            "if False else text[:16]",
            "test_times_in_the_repeated_hour_of_autumn_are_unambiguous_and_are_read_back",
        ),
    ),
    *mutants_of(
        "daemon/archive/object_storage.py",
        "integration/test_archive_s3.py",
        (
            "A store without TLS is used only if that is allowed.",
            "if not allow_http and (name := _plain_endpoint(service)):",
            "if name := '':",
            "test_a_store_without_tls_that_is_not_allowed_names_both_settings",
        ),
        (
            "A service account may name an address without TLS.",
            '_plain_account() if service == "GOOGLE" else ""',
            '""',
            "test_a_store_without_tls_that_is_not_allowed_names_both_settings",
        ),
        (
            "A store without TLS can be allowed.",
            '"allow_http": allow_http,',
            '"allow_http": False,',
            "test_an_archive_works_in_an_object_store_without_tls",
        ),
    ),
    *mutants_of(
        "daemon/bus/migrations.py",
        "integration/test_migrations.py",
        (
            "A migration that changes data keeps older versions out.",
            "and not each.only_adds",
            "and False",
            "test_each_migration_runs_once_however_many_processes_connect",
        ),
        (
            "A version ignores kinds of keys of a newer one.",
            "if (needs or found) > schema:",
            "if found > schema:",
            "test_kinds_of_keys_of_a_newer_version_are_ignored",
        ),
    ),
    *mutants_of(
        "daemon/data/key_names.py",
        "unit/test_schema.py",
        (
            "A new kind of key is a new schema.",
            'BESIDE = frozenset({"live",',
            'BESIDE = frozenset({"novelty", "live",',
            "test_a_new_kind_of_key_is_a_new_schema",
        ),
    ),
    *mutants_of(
        "daemon/session/lua/claim.lua",
        "integration/test_damage.py",
        ("A log shorter than its head is told.", "if missing > 0 then return", "if false then return", _DAMAGE),
        ("A field that is no number is told.", "'^%d+$') then return name", "'') then return name", _DAMAGE),
        ("A time that is no number is done without.", "      fields[name] = nil\n", "", _DAMAGE),
    ),
    *mutants_of(
        "daemon/recall/index/index_feed.py",
        "integration/test_damage.py",
        (
            "A damaged session does not end the search of others.",
            "except (BusError, DamagedData, ValueError) as error:",
            "except BusUnavailable as error:",
            _DAMAGE,
        ),
    ),
    *mutants_of(
        "daemon/data/lua/mend.lua",
        "integration/test_damage.py",
        ("Lost messages are replaced.", "    for _ = first, head - 1 do", "    for _ = first, first - 1 do", _DAMAGE),
        ("A repaired session is answered at once.", "  redis.call('HDEL', KEYS[1], 'retry_at')\n", "", _DAMAGE),
    ),
    *mutants_of(
        "daemon/data/scope_rules.py",
        "integration/test_data_check.py",
        (
            "A lost history is told.",
            "if not (taken.history or taken.shelved):",
            "if False:",
            "test_what_only_a_backup_helps_against_is_told",
        ),
    ),
    *mutants_of(
        "daemon/bus/command_batch.py",
        "integration/test_damage.py",
        ("A key of a wrong type is told.", 'if code == "WRONGTYPE":', "if False:", _DAMAGE),
    ),
    *mutants_of(
        "daemon/data/backup.py",
        "integration/test_data_files.py",
        (
            "A backup counts only when all its files are on the disk.",
            "    await _in_thread(partial(sync_all, folder), folder)\n",
            "",
            "test_all_files_of_a_backup_are_on_the_disk_before_the_file_that_makes_it_count",
        ),
    ),
    *mutants_of(
        "daemon/durable.py",
        "unit/test_private_files.py",
        (
            "All files are synced where the file system cannot be.",
            "                os.fsync(descriptor)\n            finally:",
            "                pass\n            finally:",
            "test_files_that_were_not_synced_by_themselves_are_synced_together",
        ),
    ),
)
