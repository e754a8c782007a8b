"""Passwords in URLs are never shown."""

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import passwords, redact


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:secret@index.test/simple", "https://index.test/simple"),
        ("https://user:se@cret@index.test/simple", "https://index.test/simple"),
        ("https://token@index.test", "https://index.test"),
        ("git+ssh://git@host.test/a.git@v1", "git+ssh://host.test/a.git@v1"),
        ("see 'http://u:p@one.test/' and http://u:p@two.test", "see 'http://one.test/' and http://two.test"),
        ("https://index.test/@scope/name", "https://index.test/@scope/name"),
        ("https://user:se/cret@index.test/simple", "https://index.test/simple"),
        ("https://user:se#cr?et@index.test/simple", "https://index.test/simple"),
        ("https://index.test:8443/@scope/name", "https://index.test:8443/@scope/name"),
        ("https://one.test/a?token=abc&b=1#c", "https://one.test/a?token=…&b=1#c"),
        ("https://one.test/a?b=1&X-Amz-Signature=abc", "https://one.test/a?b=1&X-Amz-Signature=…"),
        ("mail to somebody@host.test", "mail to somebody@host.test"),
    ],
)
def test_redact_removes_user_names_and_passwords(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("https://user:secret@index.test/simple", {"secret"}),
        ("https://user:se%2Fcret@index.test/simple", {"se%2Fcret", "se/cret"}),
        ("https://user:se@cret@index.test/simple", {"se@cret"}),
        ("https://a-token-of-some-length@index.test", {"a-token-of-some-length"}),
        ("https://a-token-of-some-length:@index.test", {"a-token-of-some-length"}),
        ("git+ssh://git@host.test/a.git@v1", set()),
        ("https://git@host.test/a.git", set()),
        ("https://one.test/a?token=abc&b=1#c", {"abc"}),
        ("http://u:p@one.test/ and http://u:q@two.test", {"p", "q"}),
        ("https://index.test:8443/@scope/name", set()),
    ],
)
def test_passwords_of_urls(text: str, hidden: set[str]) -> None:
    assert passwords(text) == hidden
