"""``millpond redis-cli`` and ``redis-acl``: a look into the database that Millpond uses, and who may use it."""

import click

from daemon.cli.command_setup import loaded


@click.command("redis-cli", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def redis_cli(ctx: click.Context, args: tuple[str, ...]) -> None:
    """Open an interactive prompt for the configured Redis server, or run one command (ARGS).

    If Millpond uses the embedded server and the server is not running, the command starts it.
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


@click.command("redis-acl")
@click.option(
    "--redis-62",
    is_flag=True,
    help="Print rules for Redis 6.2, which has no separate read and write permissions for keys.",
)
@click.pass_context
def redis_acl(ctx: click.Context, *, redis_62: bool) -> None:
    """Print an ACL file with a Redis user for each role. Replace each PASSWORD in the file with a different
    password."""
    from daemon.bus.permissions import users

    click.echo(users(loaded(ctx).config.redis.prefix, read_only=not redis_62), nl=False)
