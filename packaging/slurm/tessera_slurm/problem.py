# SPDX-License-Identifier: Apache-2.0
"""The error that a user can do something about."""


class Problem(Exception):
    """One line that names the thing, the value and the limit."""
