"""Any platform by HTTP: a bridge posts messages of people here, and gets the bot's messages posted.

Both directions are JSON signed as Standard Webhooks describe (https://www.standardwebhooks.com): see ``signature``.
``message`` reads a message of a person, ``receiver`` serves the address, and ``channel`` is the adapter.
"""

from channels.webhook.channel import WebhookChannel, connect

__all__ = ["WebhookChannel", "connect"]
