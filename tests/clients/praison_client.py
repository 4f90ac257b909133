#!/usr/bin/env python3
"""Talks to the default agent at /a2a as PraisonAI's callers do, and prints what it reads.

    praison_client.py http://127.0.0.1:8000 [TEXT]

Messages have neither an id nor kinds, a context that is not known yet is sent as null, and every kind of call
uses the same request id each time. With aiohttp installed the calls go through it, else through the
standard library.
"""

import asyncio
import json
import sys
import urllib.request

try:
    import aiohttp
except ImportError:
    aiohttp = None


async def post(url, body):
    """One call over a connection of its own."""
    if aiohttp is not None:
        async with aiohttp.ClientSession() as session:
            async with session.post(url, json=body) as response:
                return await response.json()

    def call():
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    return await asyncio.to_thread(call)


class Client:
    """The three calls of a small client."""

    def __init__(self, base):
        self.url = base.rstrip("/") + "/a2a"

    async def call(self, method, request, params):
        body = {"jsonrpc": "2.0", "method": method, "id": request, "params": params}
        return await post(self.url, body)

    async def send(self, text, context=None):
        message = {"role": "user", "parts": [{"text": text}], "contextId": context}
        return await self.call("message/send", "1", {"message": message})

    async def send_bare(self, text):
        """The shortest message: without any context."""
        message = {"role": "user", "parts": [{"text": text}]}
        return await self.call("message/send", "1", {"message": message})

    async def get(self, task):
        return await self.call("tasks/get", "2", {"id": task})

    async def cancel(self, task):
        return await self.call("tasks/cancel", "3", {"id": task})


def say(what, answer):
    """Prints the state that an answer shows, or its error."""
    if "error" in answer:
        error = answer["error"]
        print(f"{what}: error {error['code']} {error['message']}")
    else:
        print(f"{what}: {answer['result']['status']['state']}")


async def walk(client, text):
    """A task from its first message to its end: send, look, cancel."""
    sent = await client.send(text)
    task = sent["result"]["id"]
    say("sent", sent)
    read = await client.get(task)
    assert read["result"]["id"] == task, read
    assert read["result"]["contextId"] == sent["result"]["contextId"], read
    say("read", read)
    canceled = await client.cancel(task)
    if "result" in canceled:
        assert canceled["result"]["id"] == task, canceled
    say("canceled", canceled)
    say("read", await client.get(task))
    # Nothing changes a task that has ended.
    say("canceled", await client.cancel(task))


async def talk(client):
    """Two tasks of one conversation, and one that stands alone."""
    first = (await client.send("What is a quince?"))["result"]
    context = first["contextId"]
    second = (await client.send("And its colour?", context))["result"]
    other = (await client.send_bare("Good morning"))["result"]
    assert second["contextId"] == context != other["contextId"]
    assert len({first["id"], second["id"], other["id"]}) == 3
    print("conversation: one context")


async def mistakes(client):
    say("unknown", await client.get("task-of-nobody"))
    say("unnamed", await client.call("tasks/get", "2", {}))
    say("unheard", await client.call("tasks/forget", "2", {}))


async def main():
    base = sys.argv[1]
    text = sys.argv[2] if len(sys.argv) > 2 else "Analyze a basket of quinces"
    client = Client(base)
    await walk(client, text)
    await talk(client)
    await mistakes(client)


if __name__ == "__main__":
    asyncio.run(main())
