// Samples of a request in three languages, made of the OpenAPI document: required parameters and the body with their
// examples.

export type Parameter = { name: string; in: string; required?: boolean; example?: unknown; schema?: Schema };
export type Schema = { type?: string | string[]; example?: unknown; default?: unknown; enum?: unknown[]; $ref?: string; contentSchema?: Schema };
export type Media = { schema?: Schema; example?: unknown; examples?: Record<string, { value?: unknown }> };
export type Operation = {
  operationId: string; tags: string[]; summary?: string; parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, Media> }; responses: Record<string, { content?: Record<string, Media> }>;
};
export type Document = {
  info: { title: string; version: string; description?: string }; tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>; webhooks?: Record<string, Record<string, Operation>>; components?: Record<string, Record<string, unknown>>;
};

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Values of parameters, in place of their examples; optional ones too. */
export type Given = Record<string, string | number>;
type Request = { url: string; method: string; headers: [string, string][]; body?: unknown };
/** A route as the packages of api/clients/ have it. Pages are none of their calls; the stream has a function of its own. */
type Call = { id: string; origin: string; packaged: boolean; parameters: [string, unknown][] };
const OF_HEADERS: Record<string, [string, string]> = { 'X-API-Key': ['apiKey', 'api_key'], 'Idempotency-Key': ['idempotencyKey', 'idempotency_key'] };

/** What a local reference stands for. */
export function follow<T>(document: Document, value: T | { $ref: string }): T {
  const ref = (value as { $ref?: string }).$ref;
  if (!ref) return value as T;
  return ref.slice(2).split('/').reduce<any>((at, part) => at[part], document) as T;
}

/** The parameters of a sample with their values: required ones, and those that are given. */
function valuesOf(document: Document, operation: Operation, given: Given): { parameter: Parameter; value: unknown }[] {
  return (operation.parameters ?? []).map((one) => follow<Parameter>(document, one)).filter((one) => one.required || one.name in given).map((parameter) => {
    const schema = parameter.schema ? follow<Schema>(document, parameter.schema) : {};
    const value = given[parameter.name] ?? parameter.example ?? schema.example ?? schema.default ?? schema.enum?.[0] ?? parameter.name.toUpperCase();
    return { parameter, value };
  });
}

function requestOf(document: Document, path: string, method: string, origin: string, given: Given): Request {
  const operation = document.paths[path][method];
  const values = valuesOf(document, operation, given);
  const placed = (place: string) => values.filter(({ parameter }) => parameter.in === place).map(({ parameter, value }): [string, string] => [parameter.name, String(value)]);
  const filled = path.replace(/\{(\w+)\}/g, (all, name) => {
    const found = placed('path').find(([one]) => one === name);
    return found ? encodeURIComponent(found[1]) : all;
  });
  const query = new URLSearchParams(placed('query'));
  const headers = placed('header');
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type) headers.push(['Content-Type', type]);
  const schema = media?.schema ? follow<Schema>(document, media.schema) : undefined;
  const body = media ? media.example ?? Object.values(media.examples ?? {})[0]?.value ?? schema?.example ?? {} : undefined;
  return { url: `${origin}${filled}${query.size ? `?${query}` : ''}`, method: method.toUpperCase(), headers, body };
}

function callOf(document: Document, path: string, method: string, origin: string, given: Given): Call {
  const operation = document.paths[path][method];
  const answer = operation.responses['200'] ?? operation.responses['201'];
  const packaged = path.startsWith('/api/') && 'application/json' in (answer?.content ?? {}) && operation.operationId !== 'kyc_webhook';
  return { id: operation.operationId, origin, packaged, parameters: valuesOf(document, operation, given).map(({ parameter, value }) => [parameter.name, value]) };
}

const quoted = (text: string) => `'${text.replace(/'/g, "'\\''")}'`; // for a POSIX shell
const literal = (text: string) => JSON.stringify(text);

function curl(request: Request): string {
  const parts = [`curl ${quoted(request.url)}`];
  if (request.method !== 'GET' && request.body === undefined) parts.push(`-X ${request.method}`);
  request.headers.forEach(([name, value]) => parts.push(`-H ${quoted(`${name}: ${value}`)}`));
  if (request.body !== undefined) parts.push(`-d ${quoted(JSON.stringify(request.body))}`);
  return parts.join(' \\\n     ');
}

function fetched(request: Request): string {
  return `const answer: Response = await fetch(${literal(request.url)});\nif (!answer.ok) throw new Error(\`HTTP \${answer.status}\`);\nconsole.log(await answer.text());`;
}

/** The parameters of the stream as the packages take them: lists of names. */
const listsOf = (call: Call) => [['topics', 'ledger'], ...call.parameters].reduce<Record<string, string[]>>((lists, [name, value]) => ({ ...lists, [String(name)]: String(value).split(',') }), {});

function streamed(call: Call): string {
  return [
    `import { createClient, stream } from '@tidemark/client';`, '',
    `const client = createClient({ baseUrl: ${literal(call.origin)} });`,
    `for await (const message of stream(client, ${JSON.stringify(listsOf(call))})) {`,
    '  console.log(message.type, message.data);', '}',
  ].join('\n');
}

function pythonStreamed(call: Call): string {
  const { topics, ...others } = listsOf(call);
  return [
    'from tidemark_client import Client', '',
    `with Client(${literal(call.origin)}) as client:`,
    `    for message in client.stream(${[python(topics), ...Object.entries(others).map(([name, value]) => `${snake(name)}=${python(value)}`)].join(', ')}):`,
    '        print(message.type, message.data)',
  ].join('\n');
}

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function typescript(call: Call, request: Request): string {
  if (call.id === 'stream') return streamed(call);
  if (!call.packaged) return fetched(request);
  const name = camel(call.id);
  const members = call.parameters.map(([key, value]) => `${OF_HEADERS[key]?.[0] ?? key}: ${JSON.stringify(value)}`);
  if (request.body !== undefined) members.push(`body: ${JSON.stringify(request.body)}`);
  return [
    `import { createClient, ${name} } from '@tidemark/client';`, '',
    `const client = createClient({ baseUrl: ${literal(call.origin)} });`,
    `const answer = await ${name}(client${members.length ? `, { ${members.join(', ')} }` : ''});`,
    'console.log(answer.ledger, answer.data);',
  ].join('\n');
}

/** JSON as Python writes it. */
function python(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') return `{${Object.entries(value as object).map(([name, one]) => `${literal(name)}: ${python(one)}`).join(', ')}}`;
  return JSON.stringify(value);
}

const snake = (name: string) => name.replace(/(?!^)([A-Z])/g, '_$1').toLowerCase() + (name === 'from' ? '_' : '');

function pythonCall(call: Call, request: Request): string {
  if (call.id === 'stream') return pythonStreamed(call);
  if (!call.packaged) return `import httpx  # pip install httpx\n\nprint(httpx.get(${literal(request.url)}).raise_for_status().text)`;
  const members = call.parameters.map(([key, value]) => `${OF_HEADERS[key]?.[1] ?? snake(key)}=${python(value)}`);
  if (request.body !== undefined) members.push(`body=${python(request.body)}`);
  return [
    'from tidemark_client import Client', '',
    `with Client(${literal(call.origin)}) as client:`,
    `    answer = client.${call.id}(${members.join(', ')})`,
    'print(answer.ledger, answer.data)',
  ].join('\n');
}

export function sampleOf(document: Document, path: string, method: string, language: Language, origin: string, given: Given = {}): string {
  const request = requestOf(document, path, method, origin, given);
  if (language === 'curl') return curl(request).replace(/^curl /, path === '/api/stream' ? 'curl -N ' : 'curl ');
  return { TypeScript: typescript, Python: pythonCall }[language](callOf(document, path, method, origin, given), request);
}
