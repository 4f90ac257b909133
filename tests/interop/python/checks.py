"""Runs checks one after the other and reports each on a line of its own.

A check is a coroutine function whose name says what holds. Its line is `ok <name>` or
`FAILED <name>: <reason>`; the last line counts both.
"""

import asyncio
import sys
import traceback

# A server that does not answer must not stop the run. None of the checks takes a second; a slow or a halted
# machine is no reason to fail.
PATIENCE = 600


def same(actual, expected):
    """Both are shown when they differ, which a bare `assert` would not do."""
    if actual != expected:
        raise AssertionError(f'expected {expected!r}, got {actual!r}')


async def errors_of(*calls):
    """The errors that the calls end with; it is a failure when one ends without."""
    errors = await asyncio.gather(*calls, return_exceptions=True)
    for error in errors:
        if not isinstance(error, Exception):
            raise AssertionError(f'no error, but {error!r}')
    return errors


async def run(checks):
    """Runs every check, whatever became of the ones before it, and ends the process."""
    failed = 0
    for check in checks:
        name = check.__name__.replace('_', ' ')
        try:
            await asyncio.wait_for(check(), PATIENCE)
        except Exception as error:  # A check may fail in any way; the next one runs all the same.
            failed += 1
            reason = ' '.join(f'{type(error).__name__}: {error}'.split())
            print(f'FAILED {name}: {reason}', flush=True)
            traceback.print_exc(file=sys.stderr)
        else:
            print(f'ok {name}', flush=True)
    print(f'{len(checks) - failed} passed, {failed} failed', flush=True)
    sys.exit(1 if failed else 0)
