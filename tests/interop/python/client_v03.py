"""Walks through the life of tasks with a2a-sdk 0.3 as it comes from the package index.

Usage: client_v03.py BASE_URL [BINDING]

The binding is JSONRPC or HTTP+JSON.
"""

import asyncio
import base64
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory, create_text_message_object
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TaskStatusUpdateEvent,
    TextPart,
)
from a2a.utils import get_message_text, get_text_parts

from checks import Receiver, errors_of, run, same


class Agent:
    """One agent, called in the three ways that the configuration of a client knows."""

    def __init__(self, http, card, binding):
        self.card = card
        self.waiting = self.client(http, binding, streaming=False)
        self.polling = self.client(http, binding, streaming=False, polling=True)
        self.streaming = self.client(http, binding)

    def client(self, http, binding, **configuration):
        config = ClientConfig(httpx_client=http, supported_transports=[binding], **configuration)
        return ClientFactory(config).create(self.card)

    @classmethod
    async def resolve(cls, http, base, name, binding):
        card = await A2ACardResolver(http, f'{base}/api/v1/a2a/{name}').get_agent_card()
        return cls(http, card, binding)


def message(text, **members):
    return create_text_message_object(content=text).model_copy(update=members)


async def only(events):
    """What a call without a stream brings: one task, or one message."""
    [event] = [event async for event in events]
    return event[0] if isinstance(event, tuple) else event


async def all_of(events):
    """The events, each as a word. The SDK folds them into one task, which comes last."""
    words, task = [], None
    async for task, update in events:
        words.append(word(task, update))
    return words, task


def word(task, update):
    match update:
        case None:
            return f'task {task.status.state.value}'
        case TaskStatusUpdateEvent():
            return f'{update.status.state.value}{" final" if update.final else ""}'
        case TaskArtifactUpdateEvent():
            text = ''.join(get_text_parts(update.artifact.parts))
            return f'{"+" if update.append else "="}{text}{" last" if update.last_chunk else ""}'


def artifact_text(task):
    return ''.join(text for artifact in task.artifacts for text in get_text_parts(artifact.parts))


# What a refusal is over HTTP+JSON: the SDK shows the status and not what the body says.
STATUS = {-32001: 404, -32002: 400, -32004: 400}


async def refused(code, *calls):
    """Every call ends with the SDK's error for its binding, and the code is the one that is meant.

    There is one type for all codes: the model that reads JSON-RPC answers never picks one of the
    types that exist per code.
    """
    for error in await errors_of(*calls):
        match error:
            case A2AClientJSONRPCError():
                same(error.error.code, code)
            case A2AClientHTTPError(message=message) if 'protocol error' in message:
                # Followers over HTTP+JSON look for a stream before they look at the status.
                same(error.status_code, 400)
            case A2AClientHTTPError():
                same(error.status_code, STATUS[code])
            case _:
                raise error


async def walk(base, http, binding):
    echo = await Agent.resolve(http, base, 'echo', binding)
    script = await Agent.resolve(http, base, 'script', binding)

    async def the_card_of_an_agent_says_where_it_is_and_what_it_can():
        for name, agent in (('echo', echo), ('script', script)):
            same(agent.card.name.lower(), name)
            same(agent.card.url, f'{base}/api/v1/a2a/{name}/jsonrpc')
            same(agent.card.preferred_transport, 'JSONRPC')
            same(agent.card.protocol_version, '0.3.0')
            same(agent.card.capabilities.streaming, True)
            assert agent.card.skills

    async def a_text_comes_back_as_the_artifact_of_a_completed_task():
        task = await only(echo.waiting.send_message(message('apple')))
        same(type(task), Task)
        same(task.status.state, TaskState.completed)
        same(artifact_text(task), 'apple')
        same([it.role for it in task.history], [Role.user, Role.agent])
        same({it.task_id for it in task.history}, {task.id})

    async def parts_of_every_kind_come_back_as_they_were():
        content = base64.b64encode(bytes(range(256))).decode()
        file = FileWithBytes(bytes=content, mime_type='image/png', name='a.png')
        link = FileWithUri(uri='https://example.org/b.pdf', mime_type='application/pdf')
        data = {'fruit': ['fig', 1, 2.5, None, True], 'nested': {'ü': '✓'}}
        parts = [TextPart(text='pear', metadata={'n': 1}), FilePart(file=file), FilePart(file=link),
                 DataPart(data=data)]
        parts = [Part(root=part) for part in parts]
        request = Message(role=Role.user, message_id=str(uuid.uuid4()), parts=parts)
        task = await only(echo.waiting.send_message(request))
        same(task.artifacts[0].parts, parts)

    async def a_message_is_the_answer_of_an_agent_that_opens_no_task():
        answer = await only(script.waiting.send_message(message('say hello')))
        same(type(answer), Message)
        same((answer.role, get_message_text(answer)), (Role.agent, 'hello'))
        answer = await only(script.streaming.send_message(message('say hello')))
        same(get_message_text(answer), 'hello')

    async def a_stream_shows_every_step_in_order():
        request = message('chunks 5 abcdefghij')
        words, task = await all_of(script.streaming.send_message(request))
        same(words, ['task submitted', 'working', '=ab', '+cd', '+ef', '+gh', '+ij last',
                     'completed final'])
        same(artifact_text(task), 'abcdefghij')
        same(task.history[0].message_id, request.message_id)

    async def a_task_is_there_to_be_read_again():
        sent = await only(echo.waiting.send_message(message('plum')))
        same(await echo.waiting.get_task(TaskQueryParams(id=sent.id)), sent)
        latest = await echo.waiting.get_task(TaskQueryParams(id=sent.id, history_length=1))
        same(latest.history, sent.history[-1:])

    async def a_conversation_keeps_its_context():
        first = await only(echo.waiting.send_message(message('one')))
        second = await only(echo.waiting.send_message(message('two', context_id=first.context_id)))
        same(second.context_id, first.context_id)
        assert second.id != first.id

    async def a_running_task_can_be_canceled():
        task = await only(script.polling.send_message(message('hang')))
        assert task.status.state in (TaskState.submitted, TaskState.working), task.status.state
        canceled = await script.polling.cancel_task(TaskIdParams(id=task.id))
        same((canceled.id, canceled.status.state), (task.id, TaskState.canceled))

    async def a_question_is_answered_on_the_same_task():
        asked = await only(script.waiting.send_message(message('ask which fruit?')))
        same(asked.status.state, TaskState.input_required)
        same(get_message_text(asked.status.message), 'which fruit?')
        answer = message('quince', task_id=asked.id, context_id=asked.context_id)
        task = await only(script.waiting.send_message(answer))
        same((task.id, task.status.state), (asked.id, TaskState.completed))
        same(artifact_text(task), 'quince')

    async def a_stream_ends_with_the_question():
        words, task = await all_of(script.streaming.send_message(message('ask which fruit?')))
        same(words, ['task submitted', 'working', 'input-required final'])
        words, task = await all_of(
            script.streaming.send_message(message('kiwi', task_id=task.id)))
        same(words[-1], 'completed final')
        same(artifact_text(task), 'kiwi')

    async def a_task_can_be_followed_from_where_it_is():
        task = await only(script.polling.send_message(message('hold:400|melon')))
        words, task = await all_of(script.streaming.resubscribe(TaskIdParams(id=task.id)))
        assert words[0] in ('task submitted', 'task working'), words
        same([it for it in words[1:] if it != 'working'], ['=melon last', 'completed final'])
        same(artifact_text(task), 'melon')

    async def those_who_follow_a_task_see_it_canceled():
        task = await only(script.polling.send_message(message('hang')))
        events = script.streaming.resubscribe(TaskIdParams(id=task.id))
        await anext(events)
        await script.polling.cancel_task(TaskIdParams(id=task.id))
        words, _ = await all_of(events)
        same(words[-1], 'canceled final')

    async def told_until_completed(receiver):
        """The states that a webhook is told of, and the task of the last one."""
        states = []
        while states[-1:] != ['completed']:
            headers, body = await receiver.told()
            same(headers['x-a2a-notification-token'], 'sesame')
            task = Task.model_validate_json(body)
            states.append(task.status.state.value)
        return states, task

    async def a_webhook_that_is_set_is_told_of_what_comes_then():
        async with Receiver() as receiver:
            asked = await only(script.waiting.send_message(message('ask which fruit?')))
            hook = PushNotificationConfig(id='mine', url=f'{receiver.origin}/a', token='sesame')
            wanted = TaskPushNotificationConfig(task_id=asked.id, push_notification_config=hook)
            same(await script.waiting.set_task_callback(wanted), wanted)
            named = GetTaskPushNotificationConfigParams(
                id=asked.id, push_notification_config_id='mine')
            same(await script.waiting.get_task_callback(named), wanted)
            await only(script.waiting.send_message(message('quince', task_id=asked.id)))
            states, task = await told_until_completed(receiver)
            same((states, task.id), (['working', 'completed'], asked.id))
            same(artifact_text(task), 'quince')

    async def a_webhook_that_comes_with_a_message_is_told_of_the_task():
        async with Receiver() as receiver:
            hook = PushNotificationConfig(url=f'{receiver.origin}/b', token='sesame')
            client = echo.client(http, binding, streaming=False, push_notification_configs=[hook])
            sent = await only(client.send_message(message('fig')))
            states, task = await told_until_completed(receiver)
            same((states, task.id), (['working', 'completed'], sent.id))

    async def an_unknown_task_is_not_found():
        unknown = str(uuid.uuid4())
        await refused(
            -32001,
            echo.waiting.get_task(TaskQueryParams(id=unknown)),
            echo.waiting.cancel_task(TaskIdParams(id=unknown)),
            only(echo.waiting.send_message(message('more', task_id=unknown))),
            all_of(echo.streaming.send_message(message('more', task_id=unknown))),
            all_of(echo.streaming.resubscribe(TaskIdParams(id=unknown))),
        )

    async def a_completed_task_cannot_be_canceled():
        task = await only(echo.waiting.send_message(message('done')))
        await refused(-32002, echo.waiting.cancel_task(TaskIdParams(id=task.id)))

    async def a_completed_task_takes_no_message():
        task = await only(echo.waiting.send_message(message('done')))
        await refused(
            -32004,
            only(echo.waiting.send_message(message('more', task_id=task.id))),
            all_of(echo.streaming.send_message(message('more', task_id=task.id))),
            all_of(echo.streaming.resubscribe(TaskIdParams(id=task.id))),
        )

    await run([
        the_card_of_an_agent_says_where_it_is_and_what_it_can,
        a_text_comes_back_as_the_artifact_of_a_completed_task,
        parts_of_every_kind_come_back_as_they_were,
        a_message_is_the_answer_of_an_agent_that_opens_no_task,
        a_stream_shows_every_step_in_order,
        a_task_is_there_to_be_read_again,
        a_conversation_keeps_its_context,
        a_running_task_can_be_canceled,
        a_question_is_answered_on_the_same_task,
        a_stream_ends_with_the_question,
        a_task_can_be_followed_from_where_it_is,
        those_who_follow_a_task_see_it_canceled,
        a_webhook_that_is_set_is_told_of_what_comes_then,
        a_webhook_that_comes_with_a_message_is_told_of_the_task,
        an_unknown_task_is_not_found,
        a_completed_task_cannot_be_canceled,
        a_completed_task_takes_no_message,
    ])


async def main(base, binding='JSONRPC'):
    async with httpx.AsyncClient() as http:
        await walk(base.rstrip('/'), http, binding)


if __name__ == '__main__':
    asyncio.run(main(*sys.argv[1:]))
