"""A policy read from YAML: what is wrong with it is told in one line, by the file's and the key's name."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError

from expectations.errors import PolicyError
from expectations.policy import Policy, RulePolicy, Suppression, TopicLimits
from schemas.yaml_text import NoMappingError, mapping_of

_PARTS: dict[str, type[BaseModel]] = {"rules": RulePolicy, "topics": TopicLimits, "suppressions": Suppression}


def read_policy(text: str, name: str, rules: Collection[str], today: date) -> Policy:
    """The policy of a file's text; raises `PolicyError`. `rules` are those there are, `today` is what expiry means."""
    try:
        policy = Policy.model_validate(mapping_of(text, name))
    except NoMappingError as error:
        raise PolicyError(str(error)) from error
    except ValidationError as error:
        message = f"{name}: {_complaint(error)}"
        raise PolicyError(message) from error
    named = [("rules", rule) for rule in policy.rules]
    named += [(f"suppressions.{place}.rule", one.rule) for place, one in enumerate(policy.suppressions)]
    for place, rule in named:
        if rule not in rules:
            message = f"{name}: {place}: there is no rule {rule}{_perhaps(rule, rules)}"
            raise PolicyError(message)
    for one in policy.suppressions:
        if one.expires < today:
            message = f"{name}: the suppression of {one} expired on {one.expires} ({one.reason}): renew or remove it"
            raise PolicyError(message)
    return policy


def _complaint(error: ValidationError) -> str:
    """The first complaint of a validation: the key's path and what is wrong with it."""
    first = error.errors()[0]
    path = ".".join(map(str, first["loc"]))
    if first["type"] != "extra_forbidden":
        return f"{path}: {first['msg']}" if path else str(first["msg"])
    known = _keys(first["loc"])
    return f"{path}: there is no such key{_perhaps(str(first['loc'][-1]), known)}; known: {', '.join(known)}"


def _keys(path: tuple[int | str, ...]) -> list[str]:
    """The keys that may stand where a path ends."""
    part = next((_PARTS[str(step)] for step in reversed(path[:-1]) if step in _PARTS), Policy)
    return sorted(part.model_fields)


def _perhaps(word: str, known: Collection[str]) -> str:
    """The nearest known word, as a question."""
    near = get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
