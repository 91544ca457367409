"""Mutants of the bus: streams, waiting lists, wake-ups, dead letters."""

from tests.mutants.mutant import Mutant, mutants_of

MUTANTS = (
    Mutant(
        rule="A platform id that was seen is not accepted again.",
        file="daemon/bus/lua/publish.lua",
        old="if seen then",
        new="if false then",
        caught_by="integration/test_publish.py::test_a_duplicate_names_the_id_it_was_accepted_under",
    ),
    Mutant(
        rule="A session whose deadline has passed is woken.",
        file="daemon/bus/lua/reap.lua",
        old="wake(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, most))",
        new="",
        caught_by="integration/test_wakeups.py::test_a_wakeup_that_its_taker_never_used_is_given_again",
    ),
    Mutant(
        rule="A session that is woken is ready.",
        file="daemon/bus/lua/reap.lua",
        old="redis.call('ZADD', KEYS[2], 'LT', now, session)",
        new="",
        caught_by="integration/test_wakeups.py::test_a_wakeup_that_its_taker_never_used_is_given_again",
    ),
    Mutant(
        rule="A session that is woken keeps a deadline.",
        file="daemon/bus/lua/reap.lua",
        old="redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), session)",
        new="redis.call('ZREM', KEYS[1], session)",
        caught_by="integration/test_wakeups.py::test_a_wakeup_that_its_taker_never_used_is_given_again",
    ),
    *mutants_of(
        "daemon/concurrency.py",
        "unit/test_ticks.py",
        (
            "A blocking command never blocks for ever.",
            "max(BLOCK_MIN_MS, math.ceil(until_tick(every_s) * 1000))",
            "math.ceil(until_tick(every_s) * 1000)",
            "test_a_blocking_command_just_before_a_tick_does_not_wait_for_ever",
        ),
        (
            "Periodic work is never later than its period.",
            "return every_s - anyio",
            "return 2 * every_s - anyio",
            "test_periodic_work_wakes_up_at_the_next_multiple_of_its_period_and_never_later",
        ),
    ),
    *mutants_of(
        "daemon/bus/command_batch.py",
        "integration/test_health.py",
        (
            "Redis that refuses a write is remembered, though it answers reads.",
            "            self.refusing = translated(error)\n",
            "",
            "test_a_process_is_not_ready_while_redis_refuses_writes",
        ),
        (
            "Redis that takes a write of a kind that it refused takes writes again.",
            "            self.refusing = None\n            self._refused_kinds.clear()\n",
            "            pass\n",
            "test_a_process_is_not_ready_while_redis_refuses_writes",
        ),
    ),
    *mutants_of(
        "daemon/run.py",
        "integration/test_run.py",
        (
            "The event loop reads sockets in small pieces.",
            "        transport.max_size = READ_BYTES\n",
            "        pass\n",
            "test_the_event_loop_reads_sockets_in_small_pieces",
        ),
    ),
    *mutants_of(
        "daemon/run.py",
        "integration/test_health.py",
        (
            "A process has started when all its services have.",
            "            process.started.set()\n",
            "",
            "test_a_process_is_ready_when_all_its_services_have_loaded_what_they_need",
        ),
    ),
    *mutants_of(
        "workers/agent/service.py",
        "integration/test_health.py",
        (
            "An agent worker has started when its kits are made.",
            "            await process.unless_stopping(partial(_warm, turns.kits, process.recaller))\n",
            "            tg.start_soon(_warm, turns.kits, process.recaller)\n",
            "test_a_worker_has_made_its_kits_when_it_has_started",
        ),
    ),
    *mutants_of(
        "workers/consolidation/service.py",
        "integration/test_health.py",
        (
            "A consolidation worker has started when its kits are made.",
            "            await process.unless_stopping(kits.warm)\n",
            "            tg.start_soon(kits.warm)\n",
            "test_a_worker_has_made_its_kits_when_it_has_started",
        ),
    ),
    *mutants_of(
        "daemon/bus/command_batch.py",
        "integration/test_lost_answers.py",
        (
            "A silent connection is found while the server answers elsewhere.",
            "                tg.start_soon(self._stream.watch)\n",
            "",
            "test_a_lost_answer_does_not_hold_up_the_calls_behind_it",
        ),
    ),
    *mutants_of(
        "daemon/bus/streaming_connection.py",
        "integration/test_lost_answers.py",
        (
            "A sender that waits for a silent connection is let go.",
            "                scope.cancel()\n",
            "                pass\n",
            "test_a_lost_answer_does_not_hold_up_the_calls_behind_it",
        ),
        (
            "A connection is given up only when the server answers elsewhere.",
            "or not await answers_elsewhere(self._client)",
            "",
            "test_a_busy_server_is_not_taken_for_a_lost_answer",
        ),
    ),
    *mutants_of(
        "daemon/bus/pipeline_connection.py",
        "integration/test_lost_answers.py",
        (
            "Whoever waits for a lost answer notices it soon.",
            "        await silence.look()\n",
            "",
            "test_a_lost_answer_is_noticed_soon_by_all_who_wait_for_it",
        ),
        (
            "A connection whose opening is lost is opened again.",
            "    with anyio.move_on_after(CONNECT_S):\n",
            "    with anyio.move_on_after(1e6):\n",
            "test_a_lost_answer_is_noticed_soon_by_all_who_wait_for_it",
        ),
    ),
    *mutants_of(
        "daemon/bus/pubsub.py",
        "integration/test_lost_answers.py",
        (
            "A listener notices a lost subscription soon.",
            "                await silence.look()\n",
            "                pass\n",
            "test_a_lost_answer_is_noticed_soon_by_all_who_wait_for_it",
        ),
    ),
    *mutants_of(
        "channels/web/health_endpoints.py",
        "integration/test_health.py",
        (
            "A process says that Redis cannot write to its disk.",
            'await self._process.bus.call("ECHO", "")',
            'await self._process.bus.call("PING")',
            "test_a_process_is_not_ready_while_redis_cannot_write_to_its_disk",
        ),
    ),
    *mutants_of(
        "daemon/config/secret.py",
        "unit/test_sentinel_address.py",
        (
            "A sentinel's password is not shown.",
            "(?:sentinel_)?password",
            "password",
            "test_no_password_of_an_address_is_shown",
        ),
    ),
    *mutants_of(
        "daemon/config/address.py",
        "unit/test_sentinel_address.py",
        (
            "An address of sentinels has no option that is not read.",
            " or options.keys() - known",
            "",
            "test_another_form_is_refused_without_showing_it",
        ),
    ),
    *mutants_of(
        "daemon/bus/replication.py",
        "integration/test_sentinel.py",
        (
            "Replicas acknowledge a write of the connection that waits.",
            "[write, wait]",
            '[("PING",), wait]',
            "test_a_message_that_too_few_replicas_have_is_refused_until_they_have_it",
        ),
    ),
    *mutants_of(
        "daemon/session/sessions.py",
        "integration/test_sentinel.py",
        (
            "A commit waits for replicas.",
            "        await self._bus.replicated(master)\n",
            "",
            "test_a_message_that_too_few_replicas_have_is_refused_until_they_have_it",
        ),
    ),
    *mutants_of(
        "daemon/bus/replication.py",
        "integration/test_sentinel.py",
        (
            "Messages that a new master lacks are kept for doctor.",
            "                    await self._keep(message)\n",
            "",
            "test_messages_that_a_new_master_lacks_are_named",
        ),
        (
            "Messages that a new master lacks are named.",
            'if not await self._patiently("EXISTS", message.seen_key):',
            "if False:",
            "test_messages_that_a_new_master_lacks_are_named",
        ),
    ),
    *mutants_of(
        "daemon/bus/sentinel.py",
        "integration/test_sentinel.py",
        (
            "A server that sentinels name has to be the master.",
            'if b"role:master" not in await connection.read_response():',
            "if False:",
            "test_a_replica_that_a_sentinel_calls_the_master_is_not_used",
        ),
        (
            "Another master is noticed by a process that asks for nothing.",
            "            await self.look()\n",
            "            pass\n",
            "test_another_master_is_noticed_by_whoever_asks_for_nothing",
        ),
    ),
    *mutants_of(
        "daemon/bus/streaming_connection.py",
        "integration/test_sentinel.py",
        (
            "Connections to a server that is the master no longer are left.",
            "not is_current(self._client, self._connection)",
            "False",
            "test_connections_to_a_server_that_is_the_master_no_longer_are_left",
        ),
    ),
)
