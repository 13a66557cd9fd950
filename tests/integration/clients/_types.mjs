// Each GET route of a living API by its example parameters: is every field what the package's types promise? Arguments: openapi.json, an address without a session.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as tidemark from '@tidemark/client';

const document = JSON.parse(readFileSync(process.argv[2]));
const client = tidemark.createClient({ baseUrl: process.env.TIDEMARK_API_URL });
const BY_NAME = { Ledger: 'number', Scaled: 'string', Time: 'string' };
for (const name of ['Amount', 'Bps', 'Factor', 'I128', 'Millionths', 'PoolPrice', 'U64', 'Weight']) BY_NAME[name] = 'bigint';
const BY_PATTERN = { '^-?[0-9]{1,39}$': 'bigint', '^-?[0-9]{1,53}$': 'bigint', '^[0-9]{1,20}$': 'bigint', '^[0-9]{1,10}$': 'number' };
const follow = (value) => (value.$ref ? follow(value.$ref.slice(2).split('/').reduce((at, part) => at[part.replace('~1', '/')], document)) : value);

/** The first field that is not what its schema promises: a path, or null. */
function wrong(value, schema, path) {
  fields++;
  const kind = BY_NAME[schema.$ref?.split('/').at(-1)];
  if (kind) return typeof value === kind ? null : `${path}: ${typeof value} instead of ${kind}`;
  if (schema.$ref) return wrong(value, follow(schema), path);
  const some = schema.anyOf ?? schema.oneOf;
  if (some) {
    const faults = some.map((one) => wrong(value, one, path));
    return faults.includes(null) ? null : faults.join(' and ');
  }
  if (schema.enum) return schema.enum.includes(value) ? null : `${path}: ${value} is none of ${schema.enum}`;
  if ('const' in schema) return value === schema.const ? null : `${path}: ${value}`;
  const types = [schema.type ?? (schema.properties ? 'object' : [])].flat();
  if (!types.length) return null;
  const is = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (is === 'null') return types.includes('null') ? null : `${path}: null`;
  const number = types.includes('string') && schema.format !== 'date-time' ? BY_PATTERN[schema.pattern] : undefined;
  const wanted = types.map((one) => (one === 'string' && number ? number : one === 'integer' ? 'number' : one));
  if (!wanted.includes(is)) return `${path}: ${is} instead of ${wanted}`;
  if (is === 'array') return value.map((one, i) => wrong(one, schema.items ?? {}, `${path}[${i}]`)).find((one) => one) ?? null;
  if (is !== 'object') return null;
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) return `${path}.${name}: missing`;
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    const fault = Object.hasOwn(value, name) ? wrong(value[name], one, `${path}.${name}`) : null;
    if (fault) return fault;
  }
  return null;
}

/** A value for each required parameter: the document's example, or what this network has. */
function example(parameter, known) {
  return known[parameter.name] ?? parameter.example ?? Object.values(parameter.examples ?? {})[0]?.value ?? parameter.schema.example ?? parameter.schema.default ?? parameter.schema.examples?.[0];
}

const [event] = (await tidemark.events(client, { limit: 1 })).data.items;
const opened = await tidemark.kycSession(client, { body: { address: process.argv[3], mode: 'direct', providerKey: 'sandbox' } });
const apiKey = process.env.TIDEMARK_KYC_KEY;
const hook = await tidemark.webhookCreate(client, { apiKey, body: { url: 'http://127.0.0.1:9/', events: ['market.listed'] } });
const known = { id: event.id, hash: event.txHash, sessionId: opened.data.sessionId, webhookId: hook.data.webhookId };
let fields = 0;
const faults = [];
const answered = [];
const none = [];
for (const [path, methods] of Object.entries(document.paths)) {
  const { get } = methods;
  const name = get?.operationId.replace(/_(\w)/g, (_, one) => one.toUpperCase());
  if (!get || name === 'stream' || typeof tidemark[name] !== 'function' || !path.startsWith('/api/')) continue;
  const parameters = (get.parameters ?? []).map(follow).filter((one) => one.in !== 'header' && one.required);
  const given = Object.fromEntries(parameters.map((one) => [one.name, example(one, known)]));
  try {
    const { data } = await tidemark[name](client, name.startsWith('webhook') ? { ...given, apiKey } : given);
    const fault = wrong(data, get.responses['200'].content['application/json'].schema, name);
    answered.push(name);
    if (fault) faults.push(fault);
  } catch (error) {
    none.push(`${name} ${JSON.stringify(given)}: ${error.code ?? error}`);
  }
}
assert.deepEqual(none.filter((one) => !/: (not_found|no_proof)$/.test(one)), []); // this stack has no archives, so no proofs
assert.ok(none.length <= 7, none.join('\n')); // a young network lacks some of the examples
assert.deepEqual(faults, []);
assert.ok(answered.length > 60 && fields > 2000, `${answered.length} routes, ${fields} fields`);
console.log(`types: ${fields} fields of ${answered.length} routes are what the package promises`);
