// The first page of /docs: what the contract says of the stream, of errors and of limits, and what this server answers now.
import { byId, element, fillTable, withCode } from './element';
import { leaveRecipes, showRecipes } from './recipes';
import { follow, type Document, type Schema } from './samples';

type Fields = Schema & { properties?: Record<string, Fields>; oneOf?: Fields[]; anyOf?: Fields[]; const?: string; description?: string; maximum?: number };
type Told = { description?: string };

const schemaOf = (openapi: Document, value: unknown) => follow<Fields>(openapi, value as Fields);

/** The messages of the stream with the fields of their data; of an event, whose fields depend on its kind, those that all kinds share. */
function showMessages(openapi: Document) {
  const stream = openapi.paths['/api/stream']?.get;
  const content = stream?.responses['200']?.content?.['text/event-stream']?.schema;
  const union = schemaOf(openapi, content?.contentSchema ?? content ?? {});
  const messages = (union.oneOf ?? []).flatMap((one) => schemaOf(openapi, one).oneOf ?? [one]).map((one) => schemaOf(openapi, one));
  const fieldsOf = (value: Fields): string[] => {
    const schema = schemaOf(openapi, value);
    const [first] = schema.oneOf ?? schema.anyOf ?? [];
    return first ? fieldsOf(first) : Object.keys(schema.properties ?? {});
  };
  fillTable(byId('messages'), ['Event', 'When', 'Fields of its data'], messages.flatMap((message) => {
    const type = schemaOf(openapi, message.properties?.type ?? {}).const;
    if (!type) return [];
    const names = fieldsOf(message.properties?.data ?? {});
    return [[[element('code', {}, type)], withCode(message.description ?? ''), names.flatMap((name, i) => [i ? ', ' : '', element('code', {}, name)])]];
  }));
  const kinds = Object.keys(openapi.webhooks ?? {});
  byId('webhooks').replaceChildren(...kinds.flatMap((kind, i) => [i ? ', ' : '', element('code', {}, kind)]));
}

function showStatuses(openapi: Document) {
  const responses = Object.entries((openapi.components?.responses ?? {}) as Record<string, Told>).filter(([status]) => /^\d+$/.test(status));
  responses.sort(([a], [b]) => Number(a) - Number(b));
  fillTable(byId('statuses'), ['Status', 'Means'], responses.map(([status, one]) => [[status], withCode(one.description ?? '')]));
}

function showGroups(tags: { name: string; description?: string }[], countOf: (tag: string) => number) {
  byId('groups').replaceChildren(...tags.map((tag) => element('li', {},
    element('a', { href: `#/${encodeURIComponent(tag.name)}` }, tag.name), element('span', { class: 'count' }, countOf(tag.name) === 1 ? '1 route' : `${countOf(tag.name)} routes`),
    element('p', {}, ...withCode(tag.description ?? '')))));
}

/** Limits by the contract, and this server's own numbers from the headers of an answer. */
function showLimits(openapi: Document, headers: Headers) {
  const parameters = (openapi.components?.parameters ?? {}) as Record<string, { schema?: Fields; description?: string }>;
  const told = (openapi.components?.headers ?? {}) as Record<string, Told>;
  const page = parameters.limit?.schema;
  const policy = /"([^"]*)";q=(\d+);w=(\d+)/.exec(headers.get('RateLimit-Policy') ?? '');
  const texts = [
    page?.maximum ? `Lists come in pages of \`limit\` items: ${page.default} unless you ask for more, ${page.maximum} at most. \`next\` is the \`cursor\` of the page after.` : '',
    policy ? `This server gives your address ${Number(policy[2]).toLocaleString('en')} tokens in ${policy[3]} s for routes of the class “${policy[1]}”. Each route says what it costs.`
      : 'This answer came without a rate limit.',
    told.RateLimit?.description ? `\`RateLimit\`: ${told.RateLimit.description}. Over it, 429 with \`Retry-After\`.` : '',
    parameters.maxAgeMs?.description ? `\`maxAgeMs\`: ${parameters.maxAgeMs.description}.` : '',
    'A stream whose reader is too slow ends with `dropped`, never with a gap: come back with the last `id`.',
  ];
  byId('limits').replaceChildren(...texts.filter(Boolean).map((text) => element('li', {}, ...withCode(text))));
}

/** What this server serves, from an answer's headers. */
function showFacts(headers: Headers) {
  const network = headers.get('Network') ?? '', closed = headers.get('Ledger-Closed-At') ?? '', age = Number(headers.get('Data-Age-Ms'));
  const facts: [string, string][] = [['Network', network], ['Newest ledger', Number(headers.get('Ledger-Sequence')).toLocaleString('en')],
    ['Closed', closed.replace('T', ' ').replace('Z', ' UTC')], ['Indexer heard of', age < 10000 ? `${(age / 1000).toFixed(1)} s ago` : `${Math.round(age / 1000)} s ago`]];
  byId('facts').replaceChildren(...facts.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', { 'data-fact': name }, value || '–'))));
  byId('simulated').hidden = !/simulated/i.test(network);
}

/** What `GET /api/markets?limit=0` answers; browser.docs compares it with the server's answer. A page cannot ask without its console reporting an error. */
const PROBLEM = {
  type: 'urn:tidemark:problem:invalid_parameters', title: 'Bad Request', status: 400, code: 'invalid_parameters',
  detail: 'The request has parameters that this route does not accept: see errors.', requestId: '…',
  errors: [{ in: 'query', parameter: 'limit', detail: 'must be a whole number from 1 to 200' }],
};

async function askFacts(openapi: Document) {
  const answer = await fetch('/api/markets?limit=1', { credentials: 'omit' });
  showFacts(answer.headers);
  showLimits(openapi, answer.headers);
}

let made = false;

/** Draws the page, once; the recipes begin each time it is shown. */
export function showGuide(openapi: Document, tags: { name: string; description?: string }[], countOf: (tag: string) => number) {
  if (!made) {
    made = true;
    showMessages(openapi);
    showStatuses(openapi);
    showGroups(tags, countOf);
    byId('problem').textContent = JSON.stringify(PROBLEM, null, 2);
    showLimits(openapi, new Headers());
    askFacts(openapi).catch(() => { byId('facts').replaceChildren(element('div', {}, element('dt', {}, 'This server'), element('dd', {}, 'does not answer now'))); });
  }
  showRecipes(openapi);
}

export const leaveGuide = leaveRecipes;
