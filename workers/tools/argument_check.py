"""The arguments of a call, checked against the tool's JSON Schema before the tool runs."""

from collections.abc import Generator, Mapping
from typing import Any

import msgspec
from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.exceptions import SchemaError
from referencing import Registry as Schemas

from daemon.errors import ToolError

PROBLEMS_MAX = 5
"""Most problems in one error."""

PROBLEM_MAX_CHARS = 300

ARGUMENTS_MAX_CHARS = 2_000_000
"""Longest arguments that are read: above the largest file that can be written, with JSON escapes."""

_NO_OTHERS: Schemas[Any] = Schemas()
"""Registry for references out of a schema; the default one of the library would fetch them from the network."""


def _pattern(
    _validator: Any, pattern: str, instance: object, _schema: Any
) -> Generator[ValidationError]:  # the signature is the library's
    """``pattern`` in time linear to the text: schemas come from tool servers, and Python's engine can hang on them."""
    if not isinstance(instance, str):
        return
    import re2  # noqa: PLC0415 - it takes 3 MB, and few schemas have patterns

    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.search(pattern, instance, options=options)
    except re2.error:
        return  # an expression that RE2 does not support; the tool itself must check the value
    if not found:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _additional(
    validator: Any, allowed: Any, instance: object, schema: Mapping[str, Any]
) -> Generator[ValidationError]:  # the signature is the library's
    """As in the library, except that names are not matched with Python's engine: see ``_pattern``."""
    if "patternProperties" not in schema:
        yield from _library_additional(validator, allowed, instance, schema) or ()


def _unchecked(_validator: Any, _value: Any, _instance: object, _schema: Any) -> tuple[ValidationError, ...]:
    """Not checked: the library would match names with Python's engine here."""
    return ()


_library_additional: Any = Draft202012Validator.VALIDATORS["additionalProperties"]

_extend: Any = vars(validators)["extend"]  # the library has no types for it
_Validator: Any = _extend(
    Draft202012Validator,
    {
        "pattern": _pattern,
        "additionalProperties": _additional,
        "patternProperties": _unchecked,
        "unevaluatedProperties": _unchecked,
    },
)


class ArgumentCheck:
    """Checks the arguments of one tool."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Takes what calls itself a schema.

        Raises:
            ValueError: it is none.
        """
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise ValueError(f"the schema is not a valid JSON Schema: {error.message[:PROBLEM_MAX_CHARS]}") from error
        self._validator = _Validator(schema, registry=_NO_OTHERS)

    def read(self, arguments: str) -> Mapping[str, Any]:
        """The arguments that a model wrote.

        Raises:
            ToolError: what is wrong with them and where, for the model.
        """
        found = _decoded(arguments)
        try:
            errors = [error for error, _ in zip(self._validator.iter_errors(found), range(PROBLEMS_MAX), strict=False)]
        except Exception as error:  # an invalid schema can raise any exception
            raise ToolError(f"The arguments cannot be checked: {type(error).__name__}: {error}") from error
        if errors:
            raise ToolError("The arguments are not valid: " + "; ".join(map(_told, errors)))
        return found


def _decoded(arguments: str) -> Mapping[str, Any]:
    if len(arguments) > ARGUMENTS_MAX_CHARS:
        raise ToolError(
            f"The arguments have {len(arguments):,} characters. Write at most {ARGUMENTS_MAX_CHARS:,} characters."
        )
    try:
        return msgspec.json.decode(arguments.strip() or "{}", type=dict[str, Any])
    except msgspec.ValidationError as error:
        raise ToolError(f"The arguments must be a JSON object: {error}") from error
    except ValueError as error:
        raise ToolError(f"The arguments are not valid JSON: {error}") from error
    except RecursionError as error:
        raise ToolError("The arguments are nested too deeply. Use fewer levels.") from error


def _told(error: ValidationError) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    text = error.message
    if len(text) > PROBLEM_MAX_CHARS:  # it quotes the value, which may be a whole file
        text = f"{text[: PROBLEM_MAX_CHARS // 2]} … {text[-PROBLEM_MAX_CHARS // 2 :]}"
    return f"{where}: {text}" if where else text
