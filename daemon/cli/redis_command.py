"""``millpond redis-cli``: a look into the database that Millpond uses."""

import click

from daemon.cli.connected import loaded


@click.command("redis-cli", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def redis_cli(ctx: click.Context, args: tuple[str, ...]) -> None:
    """Open an interactive prompt for the configured Redis server, or run one command (ARGS).

    If the embedded server is used and is not running, it is started.
    """
    import anyio

    from daemon import log
    from daemon.cli.redis_cli import run
    from daemon.config import data_path
    from daemon.server import EmbeddedServer

    config = loaded(ctx).config
    log.configure("warning")
    if config.redis.url:
        ctx.exit(run(config.redis.url.reveal(), list(args)))
    address = anyio.run(EmbeddedServer(data_path(config), binary=config.redis.server).ensure)
    ctx.exit(run(address, list(args)))
