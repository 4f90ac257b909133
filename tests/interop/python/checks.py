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


class Receiver:
    """A webhook on this machine: what it is told, headers and body, in the order in which it comes."""

    async def __aenter__(self):
        self._told = asyncio.Queue()
        self._server = await asyncio.start_server(self._take, '127.0.0.1', 0)
        host, port = self._server.sockets[0].getsockname()
        self.origin = f'http://{host}:{port}'
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def told(self):
        return await self._told.get()

    async def _take(self, reader, writer):
        _, *lines = (await reader.readuntil(b'\r\n\r\n')).decode('latin-1').splitlines()
        pairs = (line.partition(':') for line in lines if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers['content-length']))
        self._told.put_nowait((headers, body))
        writer.write(b'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')
        await writer.drain()
        writer.close()


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
