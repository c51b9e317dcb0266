"""The secrets that a server was given, so that its own words can be passed on without them.

What a server prints, and what an error says of it, is stored in lock files and reports. Whatever the entry hands the
server (environment values, headers, OAuth secret, arguments behind a secret flag, credentials in the address) is masked
there as a known secret, besides everything that looks like one. It does not see what the server reads from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from agent_reach.redact.redactor import Redactor, is_secret_name
from agent_reach.wire.servers import INHERITED_NAMES, ServerConfig

_FOLDERS = ("PWD", "OLDPWD")


def server_redactor(config: ServerConfig) -> Redactor:
    """A redactor that knows the values the server was given."""
    return Redactor.standard(known=set(given_secrets(config)))


def given_secrets(config: ServerConfig, *, only_named: bool = False) -> Iterator[str]:
    """The values of the entry that may be secrets. Paths and plain addresses are none unless their name says so: an error
    about a missing file must stay readable. `only_named` leaves out environment values and headers whose name does not say
    secret: where whole conversations are masked, `REGION: Hamburg` must not take a word out of them."""
    for name, value in config.env.items():
        if name in _FOLDERS:
            continue
        if is_secret_name(name) or (not only_named and name not in INHERITED_NAMES and not _is_place(value)):
            yield value
    for name, value in config.headers.items():
        if only_named and not is_secret_name(name):
            continue
        yield value
        yield value.rpartition(" ")[2]  # the token behind `Bearer`
    if config.oauth is not None:
        yield config.oauth.client_secret
    yield from _secret_arguments(config.args)
    yield from _address_secrets(config.url)


def _secret_arguments(arguments: tuple[str, ...]) -> Iterator[str]:
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if not is_secret_name(name.lstrip("-")):
            continue
        if equals:
            yield value
        elif name.startswith("-") and position + 1 < len(arguments):
            yield arguments[position + 1]


def _address_secrets(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address)
        yield parts.password or ""
        for name, value in parse_qsl(parts.query):
            if is_secret_name(name) or name == "key":
                yield value
    except ValueError:
        return


def _is_place(value: str) -> bool:
    if value.startswith(("/", "./", "../", "~")) or value[1:3] in (":\\", ":/"):
        return True
    return "://" in value and "@" not in value and "?" not in value
