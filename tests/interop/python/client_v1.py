"""Walks through the life of tasks with a2a-sdk 1.x as it comes from the package index.

Usage: client_v1.py BASE_URL [BINDING [VERSION]]

The binding is JSONRPC or HTTP+JSON, the version that of the protocol, 1.0 or 0.3: the SDK speaks
the older line too, with whoever declares no other.
"""

import asyncio
import hashlib
import json
import sys
import uuid

import httpx
import jwt
from a2a.client import A2ACardResolver, A2AClientError, ClientConfig, ClientFactory
from a2a.helpers import (
    get_artifact_text,
    get_message_text,
    new_data_part,
    new_message,
    new_raw_part,
    new_text_message,
    new_text_part,
    new_url_part,
)
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    MethodNotFoundError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier

from google.protobuf import json_format

from checks import Receiver, errors_of, run, same


class Agent:
    """One agent, called with and without streams."""

    def __init__(self, http, card, binding):
        self.card = card
        self.plain = self.client(http, binding, streaming=False)
        self.streaming = self.client(http, binding, streaming=True)

    def client(self, http, binding, **configuration):
        config = ClientConfig(
            httpx_client=http, supported_protocol_bindings=[binding], **configuration)
        return ClientFactory(config).create(self.card)

    @classmethod
    async def resolve(cls, http, base, name, binding, version):
        """The card is the server's; what it declares beside the wanted line is left out, because
        the SDK takes the newest line that it finds."""
        resolver = A2ACardResolver(http, f'{base}/api/v1/a2a/{name}')
        declared = await resolver.get_agent_card()
        card = AgentCard()
        card.CopyFrom(declared)
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(
            it for it in declared.supported_interfaces
            if it.protocol_binding == binding and it.protocol_version.startswith(version))
        if not card.supported_interfaces:
            raise SystemExit(f'the card of {name} declares no {binding} {version}: {declared}')
        return cls(http, card, binding)


def request(text, at_once=False, **members):
    """A message of the user that is waited for, or answered at once."""
    message = new_text_message(text, role=Role.ROLE_USER, **members)
    configuration = SendMessageConfiguration(return_immediately=at_once)
    return SendMessageRequest(message=message, configuration=configuration)


async def only(events):
    """What a call without a stream brings: one task, or one message."""
    [event] = [event async for event in events]
    return getattr(event, event.WhichOneof('payload'))


async def all_of(events):
    """The events, each as a word."""
    return [word(event) async for event in events]


def word(event):
    kind = event.WhichOneof('payload')
    payload = getattr(event, kind)
    match kind:
        case 'task':
            return f'task {state(payload)}'
        case 'message':
            return f'message {get_message_text(payload)}'
        case 'status_update':
            return state(payload)
        case 'artifact_update':
            text = get_artifact_text(payload.artifact, '')
            sign = '+' if payload.append else '='
            return f'{sign}{text}{" last" if payload.last_chunk else ""}'


def state(payload):
    name = TaskState.Name(payload.status.state)
    return name.removeprefix('TASK_STATE_').lower().replace('_', '-')


def text_of(task):
    return ''.join(get_artifact_text(artifact, '') for artifact in task.artifacts)


async def walk(base, http, binding, version):
    # The SDK's client of the older line over HTTP+JSON has neither a list nor a deletion of webhooks.
    lists_webhooks = (binding, version) != ('HTTP+JSON', '0.3')
    echo = await Agent.resolve(http, base, 'echo', binding, version)
    script = await Agent.resolve(http, base, 'script', binding, version)

    async def refused(kind, *calls):
        """Every call ends with the SDK's own error type, which it picks by what the server says.
        With HTTP+JSON of the older line it does not look at the code, only at the status."""
        kinds = [kind]
        if (binding, version) == ('HTTP+JSON', '0.3'):
            kinds.append(MethodNotFoundError if kind is TaskNotFoundError else A2AClientError)
        for error in await errors_of(*calls):
            if type(error) not in kinds:
                raise AssertionError(f'none of {kinds}') from error

    async def the_card_of_an_agent_says_what_it_can():
        for name, agent in (('echo', echo), ('script', script)):
            same(agent.card.name.lower(), name)
            assert agent.card.supported_interfaces[0].url.startswith(f'{base}/api/v1/a2a/{name}')
            same(agent.card.capabilities.streaming, True)
            assert agent.card.skills and agent.card.default_input_modes

    async def a_signed_card_verifies_and_a_changed_one_does_not():
        keys = await published_keys()
        verify = create_signature_verifier(lambda kid, jku: keys[kid], ['ES256', 'EdDSA'])
        resolver = A2ACardResolver(http, f'{base}/api/v1/a2a/echo')
        headers = {'headers': {'A2A-Version': '1.0'}}
        card = await resolver.get_agent_card(http_kwargs=headers, signature_verifier=verify)
        same(len(card.signatures), len(keys))
        card.description += '.'
        try:
            verify(card)
        except InvalidSignaturesError:
            return
        raise AssertionError('the changed card verifies')

    async def a_text_comes_back_as_the_artifact_of_a_completed_task():
        task = await only(echo.plain.send_message(request('apple')))
        same(type(task), Task)
        same(state(task), 'completed')
        same(text_of(task), 'apple')
        same([it.role for it in task.history], [Role.ROLE_USER, Role.ROLE_AGENT])
        same({it.task_id for it in task.history}, {task.id})

    async def parts_of_every_kind_come_back_as_they_were():
        text = new_text_part('pear')
        text.metadata.update({'n': 1})
        parts = [
            text,
            new_raw_part(bytes(range(256)), media_type='image/png', filename='a.png'),
            new_url_part('https://example.org/b.pdf', media_type='application/pdf'),
            new_data_part({'fruit': ['fig', 1, 2.5, None, True], 'nested': {'ü': '✓'}}),
            new_data_part(['fig', 2]),
            new_data_part('fig'),
            new_data_part(None),
        ]
        task = await only(echo.plain.send_message(
            SendMessageRequest(message=new_message(parts, role=Role.ROLE_USER))))
        same(list(task.artifacts[0].parts), parts)

    async def a_message_is_the_answer_of_an_agent_that_opens_no_task():
        answer = await only(script.plain.send_message(request('say hello')))
        same(type(answer), Message)
        same((answer.role, get_message_text(answer)), (Role.ROLE_AGENT, 'hello'))
        same(await all_of(script.streaming.send_message(request('say hello'))), ['message hello'])

    async def a_stream_shows_every_step_in_order():
        words = await all_of(script.streaming.send_message(request('chunks 5 abcdefghij')))
        same(words, ['task submitted', 'working', '=ab', '+cd', '+ef', '+gh', '+ij last',
                     'completed'])

    async def a_task_is_there_to_be_read_again():
        sent = await only(echo.plain.send_message(request('plum')))
        same(await echo.plain.get_task(GetTaskRequest(id=sent.id)), sent)
        latest = await echo.plain.get_task(GetTaskRequest(id=sent.id, history_length=1))
        same(list(latest.history), list(sent.history[-1:]))
        without = await echo.plain.get_task(GetTaskRequest(id=sent.id, history_length=0))
        same(list(without.history), [])

    async def the_tasks_of_a_conversation_are_listed_page_by_page():
        sent = [await only(echo.plain.send_message(request('0')))]
        context = sent[0].context_id
        for text in ('1', '2'):
            sent.append(await only(echo.plain.send_message(request(text, context_id=context))))
        page, listed = None, []
        while page is None or page.next_page_token:
            page = await echo.plain.list_tasks(ListTasksRequest(
                context_id=context, page_size=2, include_artifacts=True,
                page_token=page.next_page_token if page else ''))
            same((page.page_size, page.total_size), (2, 3))
            listed.append([text_of(task) for task in page.tasks])
        same(listed, [['2', '1'], ['0']])
        same({task.context_id for task in sent}, {context})
        completed = ListTasksRequest(context_id=context, status=TaskState.TASK_STATE_COMPLETED)
        same(len((await echo.plain.list_tasks(completed)).tasks), 3)
        working = ListTasksRequest(context_id=context, status=TaskState.TASK_STATE_WORKING)
        same(len((await echo.plain.list_tasks(working)).tasks), 0)

    async def a_running_task_can_be_canceled():
        task = await only(script.plain.send_message(request('hang', at_once=True)))
        assert state(task) in ('submitted', 'working'), state(task)
        canceled = await script.plain.cancel_task(CancelTaskRequest(id=task.id))
        same((canceled.id, state(canceled)), (task.id, 'canceled'))

    async def a_question_is_answered_on_the_same_task():
        asked = await only(script.plain.send_message(request('ask which fruit?')))
        same(state(asked), 'input-required')
        same(get_message_text(asked.status.message), 'which fruit?')
        answer = request('quince', task_id=asked.id, context_id=asked.context_id)
        task = await only(script.plain.send_message(answer))
        same((task.id, state(task), text_of(task)), (asked.id, 'completed', 'quince'))

    async def a_stream_ends_with_the_question():
        events = [event async for event in
                  script.streaming.send_message(request('ask which fruit?'))]
        same([word(it) for it in events], ['task submitted', 'working', 'input-required'])
        answer = request('kiwi', task_id=events[0].task.id)
        words = await all_of(script.streaming.send_message(answer))
        same(words[-2:], ['=kiwi last', 'completed'])

    async def a_task_can_be_followed_from_where_it_is():
        task = await only(script.plain.send_message(request('hold:400|melon', at_once=True)))
        words = await all_of(script.streaming.subscribe(SubscribeToTaskRequest(id=task.id)))
        assert words[0] in ('task submitted', 'task working'), words
        same([it for it in words[1:] if it != 'working'], ['=melon last', 'completed'])

    async def those_who_follow_a_task_see_it_canceled():
        task = await only(script.plain.send_message(request('hang', at_once=True)))
        events = script.streaming.subscribe(SubscribeToTaskRequest(id=task.id))
        await anext(events)
        await script.plain.cancel_task(CancelTaskRequest(id=task.id))
        words = await all_of(events)
        same(words[-1], 'canceled')

    async def published_keys():
        published = (await http.get(f'{base}/.well-known/jwks.json')).json()['keys']
        return {key['kid']: jwt.PyJWK(key) for key in published}

    async def told_until_completed(receiver):
        """What a webhook is told, each as a word. It believes what the server has signed for it."""
        keys, words = await published_keys(), []
        while words[-1:] not in (['completed'], ['task completed']):
            headers, body = await receiver.told()
            same(headers['x-a2a-notification-token'], 'sesame')
            token = headers['a2a-notification-jwt']
            key = keys[jwt.get_unverified_header(token)['kid']]
            claims = jwt.decode(token, key, ['ES256'], audience=receiver.origin, issuer=base)
            same(claims['request_body_sha256'], hashlib.sha256(body).hexdigest())
            if version == '0.3':
                # A task and nothing around it, which has the older line's names.
                task = json.loads(body)
                words.append(f'task {task["status"]["state"]}')
            else:
                words.append(word(json_format.Parse(body, StreamResponse())))
        return words

    working_and_completed = (
        ['task working', 'task completed'] if version == '0.3'
        else ['working', '=fig last', 'completed'])

    async def a_webhook_that_is_set_is_told_of_what_comes_then():
        async with Receiver() as receiver:
            asked = await only(script.plain.send_message(request('ask which fruit?')))
            wanted = TaskPushNotificationConfig(
                task_id=asked.id, id='mine', url=f'{receiver.origin}/a', token='sesame')
            same(await script.plain.create_task_push_notification_config(wanted), wanted)
            named = {'task_id': asked.id, 'id': 'mine'}
            got = await script.plain.get_task_push_notification_config(
                GetTaskPushNotificationConfigRequest(**named))
            same(got, wanted)
            await only(script.plain.send_message(request('fig', task_id=asked.id)))
            same(await told_until_completed(receiver), working_and_completed)
            if not lists_webhooks:
                return
            all_of_it = ListTaskPushNotificationConfigsRequest(task_id=asked.id)
            listed = await script.plain.list_task_push_notification_configs(all_of_it)
            same(list(listed.configs), [wanted])
            await script.plain.delete_task_push_notification_config(
                DeleteTaskPushNotificationConfigRequest(**named))
            listed = await script.plain.list_task_push_notification_configs(all_of_it)
            same(list(listed.configs), [])

    async def a_webhook_that_comes_with_a_message_is_told_of_the_task():
        async with Receiver() as receiver:
            hook = TaskPushNotificationConfig(url=f'{receiver.origin}/b', token='sesame')
            message = request('fig')
            message.configuration.task_push_notification_config.CopyFrom(hook)
            await only(echo.plain.send_message(message))
            same(await told_until_completed(receiver), working_and_completed)

    async def an_unknown_task_is_not_found():
        unknown = str(uuid.uuid4())
        await refused(
            TaskNotFoundError,
            echo.plain.get_task(GetTaskRequest(id=unknown)),
            echo.plain.cancel_task(CancelTaskRequest(id=unknown)),
            only(echo.plain.send_message(request('more', task_id=unknown))),
            all_of(echo.streaming.send_message(request('more', task_id=unknown))),
            all_of(echo.streaming.subscribe(SubscribeToTaskRequest(id=unknown))),
        )

    async def a_completed_task_cannot_be_canceled():
        task = await only(echo.plain.send_message(request('done')))
        await refused(
            TaskNotCancelableError, echo.plain.cancel_task(CancelTaskRequest(id=task.id)))

    async def a_completed_task_takes_no_message():
        task = await only(echo.plain.send_message(request('done')))
        await refused(
            UnsupportedOperationError,
            only(echo.plain.send_message(request('more', task_id=task.id))),
            all_of(echo.streaming.send_message(request('more', task_id=task.id))),
            all_of(echo.streaming.subscribe(SubscribeToTaskRequest(id=task.id))),
        )

    checks = [
        the_card_of_an_agent_says_what_it_can,
        a_signed_card_verifies_and_a_changed_one_does_not,
        a_text_comes_back_as_the_artifact_of_a_completed_task,
        parts_of_every_kind_come_back_as_they_were,
        a_message_is_the_answer_of_an_agent_that_opens_no_task,
        a_stream_shows_every_step_in_order,
        a_task_is_there_to_be_read_again,
        the_tasks_of_a_conversation_are_listed_page_by_page,
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
    ]
    if version == '0.3':
        # The older line has no such method and no signatures, and the SDK does not offer them.
        checks.remove(a_signed_card_verifies_and_a_changed_one_does_not)
        checks.remove(the_tasks_of_a_conversation_are_listed_page_by_page)
    await run(checks)


async def main(base, binding='JSONRPC', version='1.0'):
    async with httpx.AsyncClient() as http:
        await walk(base.rstrip('/'), http, binding, version)


if __name__ == '__main__':
    asyncio.run(main(*sys.argv[1:]))
