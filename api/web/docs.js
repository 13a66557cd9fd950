'use strict';
// Shows openapi.json: every route with its parameters, answers, an example, and a form that sends the request.
// All text is inserted as text. Nothing of the document or of an answer becomes HTML.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const DEPTH_MAX = 8; // of schemas within schemas
const SHOWN_MAX = 200000; // characters of an answer
let spec;

/** el('p', {class: 'x'}, 'text', child …) */
function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== ''));
  return node;
}

function resolve(thing) {
  for (let i = 0; thing && thing.$ref && i < DEPTH_MAX; i++) {
    let at = spec;
    for (const part of thing.$ref.replace(/^#\//, '').split('/')) at = at && at[part.replace(/~1/g, '/').replace(/~0/g, '~')];
    thing = at;
  }
  return thing || {};
}

const refName = (thing) => (thing && thing.$ref ? thing.$ref.split('/').pop() : '');

/** Renders a description: paragraphs, `code` and **strong**. */
function prose(text) {
  const out = document.createDocumentFragment();
  for (const part of (text || '').split(/\n\n+/)) {
    if (!part.trim()) continue;
    const p = el('p');
    for (const piece of part.split(/(`[^`]*`|\*\*[^*]*\*\*)/)) {
      if (piece.startsWith('`')) p.append(el('code', null, piece.slice(1, -1)));
      else if (piece.startsWith('**')) p.append(el('strong', null, piece.slice(2, -2)));
      else p.append(piece);
    }
    out.append(p);
  }
  return out;
}

// ---- schemas

function typeOf(schema) {
  const one = resolve(schema);
  if (one.const !== undefined) return JSON.stringify(one.const);
  const choices = one.oneOf || one.anyOf;
  if (choices) return choices.map(typeOf).join(' or ');
  const types = [].concat(one.type || 'anything').map((type) => (type === 'array' ? `list of ${typeOf(one.items || {})}` : type));
  return types.join(' or ');
}

function bounds(schema) {
  const one = resolve(schema);
  const said = [];
  if (one.enum) said.push(`one of ${one.enum.map((value) => JSON.stringify(value)).join(', ')}`);
  if (one.minimum !== undefined || one.maximum !== undefined) said.push(`${one.minimum ?? '…'} to ${one.maximum ?? '…'}`);
  if (one.minLength !== undefined || one.maxLength !== undefined) said.push(`${one.minLength ?? 0} to ${one.maxLength ?? '…'} characters`);
  if (one.minItems !== undefined || one.maxItems !== undefined) said.push(`${one.minItems ?? 0} to ${one.maxItems ?? '…'} items`);
  if (one.pattern) said.push(`matches ${one.pattern}`);
  if (one.format) said.push(one.format);
  if (one.default !== undefined) said.push(`default ${JSON.stringify(one.default)}`);
  return said.join('; ');
}

/** The fields of an object or of a list's items; null if there are none. */
function fields(schema, depth) {
  let one = resolve(schema);
  while (one.items) one = resolve(one.items);
  const objects = (one.oneOf || one.anyOf || [one]).map(resolve).filter((choice) => choice.properties);
  if (!objects.length || depth > DEPTH_MAX) return null;
  const list = el('ul', { class: 'fields' });
  for (const object of objects) {
    for (const [name, property] of Object.entries(object.properties)) list.append(field(name, property, object, depth));
  }
  return list;
}

function field(name, property, object, depth) {
  const required = (object.required || []).includes(name);
  const item = el('li', null, el('code', null, name), ' ', el('span', { class: 'quiet' }, typeOf(property), required ? '' : ', not always'));
  const text = property.description || resolve(property).description;
  if (text) item.append(' — ', ...prose(text).firstChild.childNodes);
  const said = bounds(property);
  if (said) item.append(' ', el('span', { class: 'quiet' }, `(${said})`));
  const inner = fields(property, depth + 1);
  if (inner) item.append(depth < 2 ? inner : el('details', null, el('summary', null, 'its fields'), inner));
  return item;
}

// ---- one route

function parametersOf(path, method) {
  const shared = spec.paths[path].parameters || [];
  return shared.concat(spec.paths[path][method].parameters || []).map(resolve);
}

function parameterTable(parameters) {
  const body = el('tbody');
  for (const p of parameters) {
    const schema = resolve(p.schema);
    const said = [typeOf(schema), bounds(schema)].filter(Boolean).join('; ');
    body.append(el('tr', null, el('th', { scope: 'row' }, el('code', null, p.name)),
      el('td', null, p.in, p.required ? ', required' : ''), el('td', null, prose(p.description), el('span', { class: 'quiet' }, said))));
  }
  const head = el('thead', null, el('tr', null, ...['name', 'where', 'meaning'].map((text) => el('th', { scope: 'col' }, text))));
  return el('div', { class: 'scroll' }, el('table', null, head, body));
}

function exampleOf(media) {
  const first = Object.values(media.examples || {}).map(resolve)[0];
  if (first) return { value: first.value, said: first.summary };
  return media.example === undefined ? null : { value: media.example, said: '' };
}

const asText = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function answer(status, response) {
  const [type, media] = Object.entries(response.content || {})[0] || [];
  const block = el('details', { open: status === '200' }, el('summary', null, el('strong', null, status), ' ', response.description || ''));
  if (type) {
    const named = refName(media.schema);
    block.append(el('p', { class: 'quiet' }, type, named ? `, ${named}` : ''));
    const inner = media.schema && fields(media.schema, 0);
    if (inner) block.append(inner);
    const example = exampleOf(media);
    if (example) block.append(el('details', null, el('summary', null, 'Example', example.said ? `: ${example.said}` : ''), el('pre', { tabindex: 0 }, asText(example.value))));
  }
  const codes = response['x-codes'] || [];
  if (codes.length) block.append(el('p', null, 'Codes: ', codes.join(', '), '.'));
  const headers = Object.entries(response.headers || {});
  if (headers.length) {
    const list = el('ul', { class: 'fields' });
    for (const [name, header] of headers) list.append(el('li', null, el('code', null, name), ' — ', resolve(header).description || ''));
    block.append(el('details', null, el('summary', null, `${headers.length} headers`), list));
  }
  return block;
}

// ---- sending a request

function input(p, id) {
  const schema = resolve(p.schema);
  const words = schema.enum || (schema.type === 'boolean' ? [true, false] : null);
  if (words) return el('select', { id, name: p.name }, el('option', { value: '' }, p.required ? 'choose' : `not given${schema.default !== undefined ? ` (${schema.default})` : ''}`), ...words.map((word) => el('option', { value: String(word) }, String(word))));
  const example = p.example ?? (Object.values(p.examples || {})[0] || {}).value;
  return el('input', { id, name: p.name, required: p.required, autocomplete: 'off', spellcheck: 'false',
    value: p.required && example !== undefined ? String(example) : undefined,
    placeholder: schema.default !== undefined ? String(schema.default) : undefined });
}

function targetOf(path, parameters, form) {
  const query = new URLSearchParams();
  let target = path.replace(/^\//, '');
  for (const p of parameters) {
    if (p.in !== 'path' && p.in !== 'query') continue; // headers have no input field
    const value = form.elements.namedItem(p.name).value;
    if (p.in === 'path') target = target.replace(`{${p.name}}`, encodeURIComponent(value));
    else if (p.in === 'query' && value !== '') query.append(p.name, value);
  }
  const text = query.toString();
  return text ? `${target}?${text}` : target;
}

async function show(method, target, body, to) {
  to.replaceChildren(el('p', null, 'Asking …'));
  try {
    const response = await fetch(target, { method: method.toUpperCase(), body, headers: body === undefined ? {} : { 'Content-Type': 'application/json' } });
    let text = await response.text();
    if (/json/.test(response.headers.get('content-type') || '')) text = JSON.stringify(JSON.parse(text), null, 2);
    if (text.length > SHOWN_MAX) text = `${text.slice(0, SHOWN_MAX)}\n… ${text.length - SHOWN_MAX} characters more`;
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    to.replaceChildren(el('p', { class: response.ok ? undefined : 'error' }, el('strong', null, `${response.status} ${response.statusText}`)),
      el('pre', { tabindex: 0, class: 'body' }, text), el('details', null, el('summary', null, 'Headers'), el('pre', { tabindex: 0 }, headers)));
  } catch (error) {
    to.replaceChildren(el('p', { class: 'error' }, `No answer: ${error.message}`));
  }
}

const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;

function asking(path, method, operation, parameters) {
  const form = el('form', { class: 'ask' });
  const inputs = el('div', { class: 'inputs' });
  for (const p of parameters) {
    const id = `${operation.operationId}-${p.in}-${p.name}`;
    if (p.in === 'path' || p.in === 'query') inputs.append(el('div', null, el('label', { for: id }, p.name, p.required ? ' (required)' : ''), input(p, id)));
  }
  form.append(inputs);
  const media = operation.requestBody && Object.values(resolve(operation.requestBody).content)[0];
  if (media) {
    const id = `${operation.operationId}-body`;
    form.append(el('label', { for: id }, 'Body'), el('textarea', { id, name: 'body', spellcheck: 'false' }, asText((exampleOf(media) || { value: '' }).value)));
  }
  const command = el('pre', { tabindex: 0 });
  const result = el('div', { 'aria-live': 'polite' });
  const told = () => {
    const url = new URL(targetOf(path, parameters, form), document.baseURI).href;
    command.textContent = `curl ${media ? "-H 'Content-Type: application/json' -d " + quoted(form.elements.namedItem('body').value) + ' ' : ''}${quoted(url)}`;
  };
  form.addEventListener('input', told);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    told();
    show(method, targetOf(path, parameters, form), media ? form.elements.namedItem('body').value : undefined, result);
  });
  form.append(command, el('button', { type: 'submit' }, 'Ask'), result);
  const block = el('details', { class: 'try' }, el('summary', null, 'Ask it'), form);
  block.addEventListener('toggle', told);
  return block;
}

function route(path, method) {
  const operation = spec.paths[path][method];
  const parameters = parametersOf(path, method);
  const article = el('article', { id: operation.operationId, 'aria-labelledby': `${operation.operationId}-name` },
    el('h3', { id: `${operation.operationId}-name` }, el('span', { class: `method ${method}` }, method.toUpperCase()), ' ', el('span', { class: 'path' }, path)),
    el('p', null, el('strong', null, operation.summary || '')), prose(operation.description));
  const notes = [];
  if (operation.deprecated) notes.push('Deprecated');
  if (operation['x-from']) notes.push(`answered from ${operation['x-from']}`);
  if (operation['x-cost'] !== undefined) notes.push(`costs ${operation['x-cost']} of the rate limit`);
  if (notes.length) article.append(el('div', { class: 'quiet' }, prose(`${notes.join('; ')}.`)));
  if (parameters.length) article.append(el('h4', null, 'Parameters'), parameterTable(parameters));
  if (operation.requestBody) {
    const media = Object.values(resolve(operation.requestBody).content)[0];
    article.append(el('h4', null, 'Body'), fields(media.schema, 0) || '');
  }
  article.append(el('h4', null, 'Answers'));
  for (const [status, response] of Object.entries(operation.responses)) article.append(answer(status, resolve(response)));
  const stream = Object.keys(resolve(operation.responses['200']).content || {}).includes('text/event-stream');
  if (!stream) article.append(asking(path, method, operation, parameters));
  return article;
}

// ---- the page

function groups() {
  const out = new Map((spec.tags || []).map((tag) => [tag.name, { tag, routes: [] }]));
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const name = (item[method].tags || ['other'])[0];
      if (!out.has(name)) out.set(name, { tag: { name }, routes: [] });
      out.get(name).routes.push({ path, method });
    }
  }
  return [...out.values()].filter((group) => group.routes.length);
}

function build() {
  document.title = document.getElementById('title').textContent = spec.info.title;
  document.getElementById('version').textContent = `version ${spec.info.version}`;
  document.getElementById('about').append(prose(spec.info.description));
  const main = document.getElementById('routes');
  const contents = document.getElementById('contents');
  for (const group of groups()) {
    const section = el('section', null, el('h2', null, group.tag.name), prose(group.tag.description));
    const list = el('ul');
    for (const { path, method } of group.routes) {
      const operation = spec.paths[path][method];
      section.append(route(path, method));
      list.append(el('li', null, el('a', { href: `#${operation.operationId}`, 'data-text': `${method} ${path} ${operation.summary || ''}`.toLowerCase() },
        el('span', { class: `method ${method}` }, method.toUpperCase()), ' ', path)));
    }
    main.append(section);
    contents.append(el('div', null, el('h2', null, group.tag.name), list));
  }
}

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const link of document.querySelectorAll('#contents a')) {
    const fits = words.every((word) => link.dataset.text.includes(word));
    count += fits;
    link.parentElement.hidden = !fits;
    document.getElementById(link.hash.slice(1)).hidden = !fits;
  }
  for (const box of document.querySelectorAll('#contents > div')) box.hidden = !box.querySelector('li:not([hidden])');
  for (const section of document.querySelectorAll('main > section')) section.hidden = !section.querySelector('article:not([hidden])');
  document.getElementById('found').textContent = words.length ? `${count} found` : '';
}

async function start() {
  const state = document.getElementById('state');
  try {
    const response = await fetch('openapi.json');
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    spec = await response.json();
    build();
    state.remove();
  } catch (error) {
    state.className = 'error';
    state.textContent = `openapi.json cannot be shown: ${error.message}`;
    return;
  }
  document.getElementById('find').addEventListener('input', (event) => find(event.target.value));
  if (location.hash) (document.getElementById(location.hash.slice(1)) || document.body).scrollIntoView();
}

start();
