// Walks through the life of tasks with @a2a-js/sdk 0.3 as it comes from the package registry.
//
// Usage: client_v03.mjs BASE_URL [BINDING]
//
// The binding is JSONRPC or HTTP+JSON.

import { randomUUID } from 'node:crypto';
import {
  ClientFactory,
  ClientFactoryOptions,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/client';
import { collected, errorsOf, oneOf, receiver, run, same } from './checks.mjs';

const base = process.argv[2].replace(/\/$/, '');
const binding = process.argv[3] ?? 'JSONRPC';
// What the SDK's own converters for HTTP+JSON leave out, in both directions: the metadata of parts,
// the names of files, and whether a piece is appended.
const incomplete = binding === 'HTTP+JSON';

const factory = new ClientFactory({
  ...ClientFactoryOptions.default,
  preferredTransports: [binding],
});

const resolved = (agent) => factory.createFromUrl(`${base}/api/v1/a2a/${agent}/`);
const [echo, script] = await Promise.all([resolved('echo'), resolved('script')]);

/** Parameters that send a text; `members` are more members of the message. */
function message(text, members = {}) {
  return parameters([{ kind: 'text', text }], members);
}

function parameters(parts, members = {}) {
  return {
    message: { kind: 'message', role: 'user', messageId: randomUUID(), parts, ...members },
  };
}

function atOnce(text) {
  return { ...message(text), configuration: { blocking: false } };
}

function word(event) {
  switch (event.kind) {
    case 'task':
      return `task ${event.status.state}`;
    case 'message':
      return `message ${textOf(event)}`;
    case 'status-update':
      return `${event.status.state}${event.final ? ' final' : ''}`;
    case 'artifact-update': {
      const sign = event.append || incomplete ? '+' : '=';
      return `${sign}${textOf(event.artifact)}${event.lastChunk ? ' last' : ''}`;
    }
    default:
      throw new Error(`an event of an unknown kind: ${JSON.stringify(event)}`);
  }
}

const words = async (stream) => (await collected(stream)).map(word);
const textOf = ({ parts }) => parts.map((part) => part.text ?? '').join('');
const artifactText = (task) => task.artifacts.map(textOf).join('');

/** Without the members that have no value, which the SDK adds and JSON leaves out. */
const plain = (value) => JSON.parse(JSON.stringify(value));

/** Every call ends with the SDK's own error type, which it picks by the code. What a stream over
 * JSON-RPC ends with is an error whose cause is of that type. */
async function refused(type, ...calls) {
  for (const error of await errorsOf(...calls)) {
    if (!(error instanceof type) && !(error.cause instanceof type)) {
      throw new Error(`expected ${type.name}`, { cause: error });
    }
  }
}

async function the_card_of_an_agent_says_where_it_is_and_what_it_can() {
  for (const [name, client] of [['echo', echo], ['script', script]]) {
    const card = await client.getAgentCard();
    same(card.name.toLowerCase(), name);
    same(card.url, `${base}/api/v1/a2a/${name}/jsonrpc`);
    same(card.preferredTransport, 'JSONRPC');
    same(card.protocolVersion, '0.3.0');
    same(card.capabilities.streaming, true);
  }
}

async function a_text_comes_back_as_the_artifact_of_a_completed_task() {
  const task = await echo.sendMessage(message('apple'));
  same([task.kind, task.status.state, artifactText(task)], ['task', 'completed', 'apple']);
  same(task.history.map((it) => it.role), ['user', 'agent']);
  same(new Set(task.history.map((it) => it.taskId)), new Set([task.id]));
}

async function parts_of_every_kind_come_back_as_they_were() {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');
  const [metadata, name] = incomplete ? [{}, {}] : [{ metadata: { n: 1 } }, { name: 'a.png' }];
  const parts = [
    { kind: 'text', text: 'pear', ...metadata },
    { kind: 'file', file: { bytes, mimeType: 'image/png', ...name } },
    { kind: 'file', file: { uri: 'https://example.org/b.pdf', mimeType: 'application/pdf' } },
    { kind: 'data', data: { fruit: ['fig', 1, 2.5, null, true], nested: { ü: '✓' } } },
  ];
  const task = await echo.sendMessage(parameters(parts));
  same(plain(task.artifacts[0].parts), parts);
}

async function a_message_is_the_answer_of_an_agent_that_opens_no_task() {
  const answer = await script.sendMessage(message('say hello'));
  same([answer.kind, answer.role, textOf(answer)], ['message', 'agent', 'hello']);
  same(await words(script.sendMessageStream(message('say hello'))), ['message hello']);
}

async function a_stream_shows_every_step_in_order() {
  const first = incomplete ? '+ab' : '=ab';
  same(await words(script.sendMessageStream(message('chunks 5 abcdefghij'))), [
    'task submitted', 'working', first, '+cd', '+ef', '+gh', '+ij last', 'completed final',
  ]);
}

async function a_task_is_there_to_be_read_again() {
  const sent = await echo.sendMessage(message('plum'));
  same(await echo.getTask({ id: sent.id }), sent);
  const latest = await echo.getTask({ id: sent.id, historyLength: 1 });
  same(latest.history, sent.history.slice(-1));
}

async function a_conversation_keeps_its_context() {
  const first = await echo.sendMessage(message('one'));
  const second = await echo.sendMessage(message('two', { contextId: first.contextId }));
  same([second.contextId, second.id === first.id], [first.contextId, false]);
}

async function a_running_task_can_be_canceled() {
  const task = await script.sendMessage(atOnce('hang'));
  oneOf(task.status.state, ['submitted', 'working']);
  const canceled = await script.cancelTask({ id: task.id });
  same([canceled.id, canceled.status.state], [task.id, 'canceled']);
}

async function a_question_is_answered_on_the_same_task() {
  const asked = await script.sendMessage(message('ask which fruit?'));
  same([asked.status.state, textOf(asked.status.message)], ['input-required', 'which fruit?']);
  const ids = { taskId: asked.id, contextId: asked.contextId };
  const task = await script.sendMessage(message('quince', ids));
  same([task.id, task.status.state, artifactText(task)], [asked.id, 'completed', 'quince']);
}

async function a_stream_ends_with_the_question() {
  const events = await collected(script.sendMessageStream(message('ask which fruit?')));
  same(events.map(word), ['task submitted', 'working', 'input-required final']);
  const answer = message('kiwi', { taskId: events[0].id });
  const rest = await words(script.sendMessageStream(answer));
  same(rest.at(-1), 'completed final');
  same(artifactText(await script.getTask({ id: events[0].id })), 'kiwi');
}

async function a_task_can_be_followed_from_where_it_is() {
  const task = await script.sendMessage(atOnce('hold:400|melon'));
  const [first, ...rest] = await words(script.resubscribeTask({ id: task.id }));
  oneOf(first, ['task submitted', 'task working']);
  oneOf(rest.at(-2), ['=melon last', '+melon last']);
  same(rest.at(-1), 'completed final');
}

async function those_who_follow_a_task_see_it_canceled() {
  const task = await script.sendMessage(atOnce('hang'));
  const stream = script.resubscribeTask({ id: task.id });
  await stream.next();
  await script.cancelTask({ id: task.id });
  same((await words(stream)).at(-1), 'canceled final');
}

const isCompleted = (task) => task.status.state === 'completed';

async function a_webhook_that_is_set_is_told_of_what_comes_then() {
  const { url, until } = await receiver('sesame');
  const { id } = await script.sendMessage(message('ask which fruit?'));
  const wanted = { taskId: id, pushNotificationConfig: { id: 'mine', url, token: 'sesame' } };
  same(plain(await script.setTaskPushNotificationConfig(wanted)), wanted);
  const named = { id, pushNotificationConfigId: 'mine' };
  same(plain(await script.getTaskPushNotificationConfig(named)), wanted);
  await script.sendMessage(message('quince', { taskId: id }));
  const told = await until(isCompleted);
  same(told.map((task) => [task.id, task.status.state]), [[id, 'working'], [id, 'completed']]);
  same(artifactText(told[1]), 'quince');
  same(plain(await script.listTaskPushNotificationConfig({ id })), [wanted]);
  await script.deleteTaskPushNotificationConfig(named);
  same(await script.listTaskPushNotificationConfig({ id }), []);
}

async function a_webhook_that_comes_with_a_message_is_told_of_the_task() {
  const { url, until } = await receiver('sesame');
  const pushNotificationConfig = { url, token: 'sesame' };
  const sent = await echo.sendMessage({
    ...message('fig'), configuration: { blocking: true, pushNotificationConfig },
  });
  const told = await until(isCompleted);
  same(told.map((task) => task.status.state), ['working', 'completed']);
  same(told[1].id, sent.id);
}

async function an_unknown_task_is_not_found() {
  const id = randomUUID();
  await refused(
    TaskNotFoundError,
    echo.getTask({ id }),
    echo.cancelTask({ id }),
    echo.sendMessage(message('more', { taskId: id })),
    collected(echo.sendMessageStream(message('more', { taskId: id }))),
    collected(echo.resubscribeTask({ id })),
  );
}

async function a_completed_task_cannot_be_canceled() {
  const { id } = await echo.sendMessage(message('done'));
  await refused(TaskNotCancelableError, echo.cancelTask({ id }));
}

async function a_completed_task_takes_no_message() {
  const { id } = await echo.sendMessage(message('done'));
  await refused(
    UnsupportedOperationError,
    echo.sendMessage(message('more', { taskId: id })),
    collected(echo.sendMessageStream(message('more', { taskId: id }))),
    collected(echo.resubscribeTask({ id })),
  );
}

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
]);
