// Samples of a request in three languages, made of the OpenAPI document: required parameters and the body with their
// examples.

export type Parameter = { name: string; in: string; required?: boolean; example?: unknown; schema?: Schema };
export type Schema = { type?: string | string[]; example?: unknown; default?: unknown; enum?: unknown[]; $ref?: string };
export type Media = { schema?: Schema; example?: unknown };
export type Operation = {
  operationId: string; tags: string[]; summary?: string; parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, Media> }; responses: Record<string, { content?: Record<string, Media> }>;
};
export type Document = {
  info: { title: string; version: string; description?: string }; tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>; components?: Record<string, Record<string, unknown>>;
};

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

type Request = { url: string; method: string; headers: [string, string][]; body?: unknown; json: boolean };

/** What a local reference stands for. */
export function follow<T>(document: Document, value: T | { $ref: string }): T {
  const ref = (value as { $ref?: string }).$ref;
  if (!ref) return value as T;
  return ref.slice(2).split('/').reduce<any>((at, part) => at[part], document) as T;
}

function exampleOf(document: Document, parameter: Parameter): string {
  const schema = parameter.schema ? follow<Schema>(document, parameter.schema) : {};
  const value = parameter.example ?? schema.example ?? schema.default ?? schema.enum?.[0];
  return value === undefined ? parameter.name.toUpperCase() : String(value);
}

function requestOf(document: Document, path: string, method: string, origin: string): Request {
  const operation = document.paths[path][method];
  const parameters = (operation.parameters ?? []).map((one) => follow<Parameter>(document, one)).filter((one) => one.required);
  const filled = path.replace(/\{(\w+)\}/g, (all, name) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    return parameter ? encodeURIComponent(exampleOf(document, parameter)) : all;
  });
  const query = new URLSearchParams(parameters.filter((one) => one.in === 'query').map((one) => [one.name, exampleOf(document, one)]));
  const headers = parameters.filter((one) => one.in === 'header').map((one): [string, string] => [one.name, exampleOf(document, one)]);
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type) headers.push(['Content-Type', type]);
  const schema = media?.schema ? follow<Schema>(document, media.schema) : undefined;
  const body = media ? media.example ?? schema?.example ?? {} : undefined;
  const answers = operation.responses['200'] ?? operation.responses['201'];
  const json = Object.keys(answers?.content ?? {}).some((one) => one.includes('json'));
  return { url: `${origin}${filled}${query.size ? `?${query}` : ''}`, method: method.toUpperCase(), headers, body, json };
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

function typescript(request: Request): string {
  const options: string[] = [];
  if (request.method !== 'GET') options.push(`  method: ${literal(request.method)},`);
  if (request.headers.length) options.push(`  headers: { ${request.headers.map(([name, value]) => `${literal(name)}: ${literal(value)}`).join(', ')} },`);
  if (request.body !== undefined) options.push(`  body: JSON.stringify(${JSON.stringify(request.body)}),`);
  const call = options.length ? `fetch(${literal(request.url)}, {\n${options.join('\n')}\n})` : `fetch(${literal(request.url)})`;
  const rest = request.json
    ? 'if (!answer.ok) throw new Error((await answer.json()).detail);\nconsole.log(answer.headers.get("Ledger-Sequence"), await answer.json());'
    : 'if (!answer.ok) throw new Error(`HTTP ${answer.status}`);\nconsole.log(await answer.text());';
  return `const answer: Response = await ${call};\n${rest}`;
}

/** JSON as Python writes it. */
function python(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') return `{${Object.entries(value as object).map(([name, one]) => `${literal(name)}: ${python(one)}`).join(', ')}}`;
  return JSON.stringify(value);
}

function pythonCall(request: Request): string {
  const parts = [literal(request.url)];
  const headers = request.headers.filter(([name]) => request.body === undefined || name !== 'Content-Type');
  if (headers.length) parts.push(`headers=${python(Object.fromEntries(headers))}`);
  if (request.body !== undefined) parts.push(`json=${python(request.body)}`);
  parts.push('timeout=10');
  const rest = request.json ? 'print(answer.headers.get("Ledger-Sequence"), answer.json())' : 'print(answer.text)';
  return `import requests  # pip install requests\n\nanswer = requests.${request.method.toLowerCase()}(${parts.join(', ')})\nanswer.raise_for_status()\n${rest}`;
}

export function sampleOf(document: Document, path: string, method: string, language: Language, origin: string): string {
  const request = requestOf(document, path, method, origin);
  return { curl, TypeScript: typescript, Python: pythonCall }[language](request);
}
