// Walks through the life of tasks with @a2a-js/sdk 1.x as it comes from the package registry.
//
// Usage: client_v1.mjs BASE_URL [BINDING [VERSION]]
//
// The binding is JSONRPC or HTTP+JSON, the version that of the protocol, 1.0 or 0.3: the SDK
// speaks the older line too, when it is told to and the card declares no other.

import { randomUUID } from 'node:crypto';
import {
  Role, StreamResponse, TaskState, taskStateToJSON, verifyAgentCardSignature,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import {
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { collected, errorsOf, oneOf, receiver, run, same } from './checks.mjs';

const base = process.argv[2].replace(/\/$/, '');
const binding = process.argv[3] ?? 'JSONRPC';
const version = process.argv[4] ?? '1.0';

// What the SDK's own converters for this pair leave out, in both directions: the metadata of parts,
// the names of files, and whether a piece is appended.
const incomplete = binding === 'HTTP+JSON' && version === '0.3';

const compatible = { legacyCompat: { enabled: version === '0.3' } };
const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory(compatible), new RestTransportFactory(compatible)],
});
const resolver = new DefaultAgentCardResolver(compatible);

/** The card is the server's; what it declares beside the wanted line is left out, because the SDK
 * takes the newest line that it finds. */
async function resolved(agent) {
  const card = await resolver.resolve(`${base}/api/v1/a2a/${agent}/`);
  const wanted = (it) => it.protocolBinding === binding && it.protocolVersion === version;
  const supportedInterfaces = card.supportedInterfaces.filter(wanted);
  return factory.createFromAgentCard({ ...card, supportedInterfaces });
}

const [echo, script] = await Promise.all([resolved('echo'), resolved('script')]);

/** A request that sends a text; `members` are more members of the message. */
function message(text, members = {}, returnImmediately = false) {
  return request([part('text', text)], members, returnImmediately);
}

function request(parts, members = {}, returnImmediately = false) {
  const ids = { messageId: randomUUID(), contextId: '', taskId: '', ...members };
  return {
    tenant: '',
    message: {
      ...ids, role: Role.ROLE_USER, parts,
      metadata: undefined, extensions: [], referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately,
    },
    metadata: undefined,
  };
}

const atOnce = (text) => message(text, {}, true);

function part($case, value, members = {}) {
  const content = { $case, value };
  return { content, metadata: undefined, filename: '', mediaType: '', ...members };
}

function word({ payload: { $case, value } }) {
  switch ($case) {
    case 'task':
      return `task ${state(value)}`;
    case 'message':
      return `message ${textOf(value)}`;
    case 'statusUpdate':
      return state(value);
    case 'artifactUpdate': {
      const sign = value.append || incomplete ? '+' : '=';
      return `${sign}${textOf(value.artifact)}${value.lastChunk ? ' last' : ''}`;
    }
    default:
      throw new Error(`an event of an unknown kind: ${$case}`);
  }
}

const words = async (stream) => (await collected(stream)).map(word);
const textOf = ({ parts }) => parts.map(({ content }) => content?.value ?? '').join('');
const artifactText = (task) => task.artifacts.map(textOf).join('');

function state({ status }) {
  return taskStateToJSON(status.state).replace('TASK_STATE_', '').toLowerCase().replace('_', '-');
}

const get = (id, historyLength) => ({ tenant: '', id, historyLength });
const cancel = (id) => ({ tenant: '', id, metadata: undefined });
const follow = (id) => ({ tenant: '', id });

/** Every call ends with the SDK's own error type, which it picks by what the server says. Of a
 * stream it may be the cause. */
async function refused(type, ...calls) {
  for (const error of await errorsOf(...calls)) {
    if (!(error instanceof type) && !(error.cause instanceof type)) {
      throw new Error(`expected ${type.name}, got ${error}`, { cause: error });
    }
  }
}

async function the_card_of_an_agent_says_what_it_can() {
  for (const [name, client] of [['echo', echo], ['script', script]]) {
    const card = await client.getAgentCard();
    same(card.name.toLowerCase(), name);
    same(card.supportedInterfaces[0].url.startsWith(`${base}/api/v1/a2a/${name}`), true);
    same(card.capabilities.streaming, true);
    same(client.protocolVersion, version);
  }
}

async function a_signed_card_verifies_and_a_changed_one_does_not() {
  const read = async (path, headers = {}) => (await fetch(`${base}${path}`, { headers })).json();
  const { keys } = await read('/.well-known/jwks.json');
  const verify = verifyAgentCardSignature(async (kid) => keys.find((key) => key.kid === kid));
  // As it is served: of what the resolver makes of it the SDK forgets parts when it verifies.
  const path = '/api/v1/a2a/echo/.well-known/agent-card.json';
  const card = await read(path, { 'A2A-Version': '1.0' });
  await verify(card);
  same(card.signatures.length, keys.length);
  const changed = { ...card, description: `${card.description}.` };
  const [error] = await errorsOf(verify(changed));
  same(error.message, 'No valid signatures found on agent card.');
}

async function a_text_comes_back_as_the_artifact_of_a_completed_task() {
  const task = await echo.sendMessage(message('apple'));
  same([state(task), artifactText(task)], ['completed', 'apple']);
  same(task.history.map((it) => it.role), [Role.ROLE_USER, Role.ROLE_AGENT]);
  same(new Set(task.history.map((it) => it.taskId)), new Set([task.id]));
}

async function parts_of_every_kind_come_back_as_they_were() {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const parts = [
    part('raw', bytes, { mediaType: 'image/png', filename: incomplete ? '' : 'a.png' }),
    part('url', 'https://example.org/b.pdf', { mediaType: 'application/pdf' }),
    part('data', { fruit: ['fig', 1, 2.5, null, true], nested: { ü: '✓' } }),
  ];
  if (!incomplete) {
    // The older line has objects only; that these are something else is told by metadata.
    parts.unshift(part('text', 'pear', { metadata: { n: 1 } }));
    parts.push(part('data', ['fig', 2]), part('data', 'fig'));
  }
  const task = await echo.sendMessage(request(parts));
  same(task.artifacts[0].parts, parts);
}

async function a_message_is_the_answer_of_an_agent_that_opens_no_task() {
  const answer = await script.sendMessage(message('say hello'));
  same([answer.role, textOf(answer)], [Role.ROLE_AGENT, 'hello']);
  same(await words(script.sendMessageStream(message('say hello'))), ['message hello']);
}

async function a_stream_shows_every_step_in_order() {
  const first = incomplete ? '+ab' : '=ab';
  same(await words(script.sendMessageStream(message('chunks 5 abcdefghij'))), [
    'task submitted', 'working', first, '+cd', '+ef', '+gh', '+ij last', 'completed',
  ]);
}

async function a_task_is_there_to_be_read_again() {
  const sent = await echo.sendMessage(message('plum'));
  same(await echo.getTask(get(sent.id)), sent);
  const latest = await echo.getTask(get(sent.id, 1));
  same(latest.history, sent.history.slice(-1));
  same((await echo.getTask(get(sent.id, 0))).history, []);
}

async function the_tasks_of_a_conversation_are_listed_page_by_page() {
  const { contextId } = await echo.sendMessage(message('0'));
  for (const text of ['1', '2']) {
    same((await echo.sendMessage(message(text, { contextId }))).contextId, contextId);
  }
  const list = (members) => echo.listTasks({
    tenant: '', contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '',
    statusTimestampAfter: undefined, includeArtifacts: true, ...members,
  });
  const first = await list({ pageSize: 2 });
  const second = await list({ pageSize: 2, pageToken: first.nextPageToken });
  same([first, second].map((it) => it.tasks.map(artifactText)), [['2', '1'], ['0']]);
  same([first, second].map((it) => [it.pageSize, it.totalSize]), [[2, 3], [2, 3]]);
  same(second.nextPageToken, '');
  same((await list({ status: TaskState.TASK_STATE_COMPLETED })).tasks.length, 3);
  same((await list({ status: TaskState.TASK_STATE_WORKING })).tasks, []);
}

async function a_running_task_can_be_canceled() {
  const task = await script.sendMessage(atOnce('hang'));
  oneOf(state(task), ['submitted', 'working']);
  const canceled = await script.cancelTask(cancel(task.id));
  same([canceled.id, state(canceled)], [task.id, 'canceled']);
}

async function a_question_is_answered_on_the_same_task() {
  const asked = await script.sendMessage(message('ask which fruit?'));
  same([state(asked), textOf(asked.status.message)], ['input-required', 'which fruit?']);
  const ids = { taskId: asked.id, contextId: asked.contextId };
  const task = await script.sendMessage(message('quince', ids));
  same([task.id, state(task), artifactText(task)], [asked.id, 'completed', 'quince']);
}

async function a_stream_ends_with_the_question() {
  const events = await collected(script.sendMessageStream(message('ask which fruit?')));
  same(events.map(word), ['task submitted', 'working', 'input-required']);
  const answer = message('kiwi', { taskId: events[0].payload.value.id });
  same((await words(script.sendMessageStream(answer))).at(-1), 'completed');
  same(artifactText(await script.getTask(get(events[0].payload.value.id))), 'kiwi');
}

async function a_task_can_be_followed_from_where_it_is() {
  const task = await script.sendMessage(atOnce('hold:400|melon'));
  const [first, ...rest] = await words(script.resubscribeTask(follow(task.id)));
  oneOf(first, ['task submitted', 'task working']);
  oneOf(rest.at(-2), ['=melon last', '+melon last']);
  same(rest.at(-1), 'completed');
}

async function those_who_follow_a_task_see_it_canceled() {
  const task = await script.sendMessage(atOnce('hang'));
  const stream = script.resubscribeTask(follow(task.id));
  await stream.next();
  await script.cancelTask(cancel(task.id));
  same((await words(stream)).at(-1), 'canceled');
}

/** What a webhook is told, as a word: a task in the older line, an event in the newer one. */
function told(body) {
  if (version === '0.3') {
    return `task ${body.status.state}`;
  }
  return word({ payload: StreamResponse.fromJSON(body).payload });
}

const workingAndCompleted = version === '0.3'
  ? ['task working', 'task completed']
  : ['working', '=fig last', 'completed'];

const isLast = (body) => told(body).endsWith('completed');

async function a_webhook_that_is_set_is_told_of_what_comes_then() {
  const { url, until } = await receiver('sesame');
  const { id: taskId } = await script.sendMessage(message('ask which fruit?'));
  const wanted = {
    tenant: '', id: 'mine', taskId, url, token: 'sesame', authentication: undefined,
  };
  same(await script.createTaskPushNotificationConfig(wanted), wanted);
  const named = { tenant: '', taskId, id: 'mine' };
  same(await script.getTaskPushNotificationConfig(named), wanted);
  await script.sendMessage(message('fig', { taskId }));
  same((await until(isLast)).map(told), workingAndCompleted);
  const list = { tenant: '', taskId, pageSize: 10, pageToken: '' };
  same((await script.listTaskPushNotificationConfig(list)).configs, [wanted]);
  await script.deleteTaskPushNotificationConfig(named);
  same((await script.listTaskPushNotificationConfig(list)).configs, []);
}

async function a_webhook_that_comes_with_a_message_is_told_of_the_task() {
  const { url, until } = await receiver('sesame');
  const sent = message('fig');
  sent.configuration.taskPushNotificationConfig = {
    tenant: '', id: '', taskId: '', url, token: 'sesame', authentication: undefined,
  };
  await echo.sendMessage(sent);
  same((await until(isLast)).map(told), workingAndCompleted);
}

async function an_unknown_task_is_not_found() {
  const id = randomUUID();
  await refused(
    TaskNotFoundError,
    echo.getTask(get(id)),
    echo.cancelTask(cancel(id)),
    echo.sendMessage(message('more', { taskId: id })),
    collected(echo.sendMessageStream(message('more', { taskId: id }))),
    collected(echo.resubscribeTask(follow(id))),
  );
}

async function a_completed_task_cannot_be_canceled() {
  const { id } = await echo.sendMessage(message('done'));
  await refused(TaskNotCancelableError, echo.cancelTask(cancel(id)));
}

async function a_completed_task_takes_no_message() {
  const { id } = await echo.sendMessage(message('done'));
  await refused(
    UnsupportedOperationError,
    echo.sendMessage(message('more', { taskId: id })),
    collected(echo.sendMessageStream(message('more', { taskId: id }))),
    collected(echo.resubscribeTask(follow(id))),
  );
}

await run([
  the_card_of_an_agent_says_what_it_can,
  // The older line has no signatures.
  ...(version === '0.3' ? [] : [a_signed_card_verifies_and_a_changed_one_does_not]),
  a_text_comes_back_as_the_artifact_of_a_completed_task,
  parts_of_every_kind_come_back_as_they_were,
  a_message_is_the_answer_of_an_agent_that_opens_no_task,
  a_stream_shows_every_step_in_order,
  a_task_is_there_to_be_read_again,
  // The older line has no such method, and the SDK does not offer one.
  ...(version === '0.3' ? [] : [the_tasks_of_a_conversation_are_listed_page_by_page]),
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
