// /docs: a first page for people (guide.ts), and the routes of /openapi.json, shown by Swagger UI, one group at a time. The
// address has the group and the route: /docs#/Markets/market. Without a group it is the first page. Nothing is loaded from another host, and no text of the document becomes HTML.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './docs.css';
import { byId, element } from './element';
import { leaveGuide, showGuide } from './guide';
import { plugin } from './plugin';
import type { Document, Media, Operation } from './samples';

type Route = { path: string; method: string; operation: Operation; tag: string };

let openapi: Document;
let routes: Route[] = [];
let ui: any;
let shown: string | null = null; // the group on the page; '' is the first page
const FIRST = 'Start here';

const addressOf = (tag: string, operation = '') => `#/${encodeURIComponent(tag)}${operation ? `/${encodeURIComponent(operation)}` : ''}`;

/** An answer with one example shows it without a choice. */
function oneExample(media: any) {
  const examples = Object.values(media.examples ?? {}) as { value: unknown }[];
  if (examples.length !== 1) return;
  media.example = examples[0].value;
  delete media.examples;
}

/** A stream shows what its messages are: Swagger UI shows a text alone. */
function messagesAsSchema(media: Media) {
  if (media.schema?.contentSchema) media.schema = media.schema.contentSchema;
}

function readRoutes() {
  const bodies = [openapi.paths, openapi.webhooks ?? {}].flatMap((part) => Object.values(part)).flatMap((item) => Object.values(item)).flatMap((one) => [one.requestBody, ...Object.values(one.responses)]);
  const shared = Object.values(openapi.components?.responses ?? {}) as Operation['responses'][string][];
  [...bodies, ...shared].flatMap((one) => Object.values(one?.content ?? {})).forEach((media) => { oneExample(media); messagesAsSchema(media); });
  routes = Object.entries(openapi.paths).flatMap(([path, item]) => Object.entries(item)
    .map(([method, operation]) => ({ path, method, operation, tag: operation.tags[0] })));
}

/** The document with the routes and the notifications of one group. The schemas stay: routes refer to them. */
function partOf(tag: string): Document {
  const paths: Document['paths'] = {};
  routes.filter((route) => route.tag === tag).forEach((route) => { paths[route.path] = { ...paths[route.path], [route.method]: route.operation }; });
  const webhooks = Object.fromEntries(Object.entries(openapi.webhooks ?? {}).filter(([, item]) => Object.values(item).some((one) => one.tags[0] === tag)));
  return { ...openapi, webhooks, tags: openapi.tags.filter((one) => one.name === tag), paths };
}

/** The groups that have routes. */
const groupsOf = () => openapi.tags.filter((tag) => routes.some((route) => route.tag === tag.name));

function showTags(current: string) {
  byId('tags').replaceChildren(...['', ...groupsOf().map((tag) => tag.name)].map((name) => {
    const link = element('a', { href: addressOf(name) }, name || FIRST);
    if (name === current) link.setAttribute('aria-current', 'page');
    return element('li', {}, link);
  }));
}

/** Opens one route, once Swagger UI has drawn it. */
function openRoute(tag: string, id: string) {
  ui.layoutActions.show(['operations', tag, id], true);
  const find = (tries: number) => {
    const node = document.getElementById(`operations-${tag.replace(/\s/g, '_')}-${id}`);
    if (node) node.scrollIntoView();
    else if (tries > 0) requestAnimationFrame(() => find(tries - 1));
  };
  find(60);
}

function showFirstPage() {
  document.title = openapi.info.title;
  showGuide(openapi, groupsOf(), (tag) => routes.filter((route) => route.tag === tag).length);
}

function showGroup(tag: Document['tags'][number]) {
  leaveGuide();
  byId('title').textContent = tag.name;
  byId('description').textContent = tag.description ?? '';
  document.title = `${tag.name} · ${openapi.info.title}`;
  ui.specActions.updateJsonSpec(partOf(tag.name));
}

/** An unknown group is the first page. */
function showAddress() {
  const [name, id] = window.location.hash.slice(2).split('/').map(decodeURIComponent);
  const tag = groupsOf().find((one) => one.name === name);
  const wanted = tag?.name ?? '';
  if (wanted !== shown) {
    shown = wanted;
    showTags(wanted);
    byId('guide').hidden = !!tag;
    byId('group').hidden = !tag;
    if (tag) showGroup(tag);
    else showFirstPage();
    window.scrollTo(0, 0);
  }
  if (tag && id) openRoute(tag.name, id);
}

function showFound() {
  const words = (byId('find') as HTMLInputElement).value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : routes.filter((route) => {
    const text = `${route.method} ${route.path} ${route.operation.operationId} ${route.operation.summary ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  byId('found').replaceChildren(...found.slice(0, 30).map((route) => element('li', {}, element('a', { href: addressOf(route.tag, route.operation.operationId) },
    element('b', {}, route.method.toUpperCase()), ' ', element('code', {}, route.path), ' ', route.operation.summary ?? ''))));
  byId('state').textContent = words.length ? `${found.length} found` : '';
}

/** A choice among words has no name in Swagger UI: it gets that of its parameter. */
function nameSelects() {
  document.querySelectorAll<HTMLElement>('tr[data-param-name] select:not([aria-label])').forEach((select) => {
    select.setAttribute('aria-label', select.closest<HTMLElement>('tr[data-param-name]')!.dataset.paramName!);
  });
}

/** Swagger UI's own dark colours hang on a class. */
function followScheme() {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const set = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', set);
  set();
}

async function start() {
  const answer = await fetch('/openapi.json', { credentials: 'omit' });
  if (!answer.ok) throw new Error(String(answer.status));
  openapi = await answer.json();
  readRoutes();
  byId('state').textContent = '';
  byId('name').textContent = `${openapi.info.title} ${openapi.info.version}`;
  ui = SwaggerUI({
    domNode: byId('swagger'), spec: { ...openapi, paths: {}, webhooks: {} }, plugins: [plugin(() => openapi)], layout: 'BaseLayout', docExpansion: 'list',
    defaultModelsExpandDepth: -1, tryItOutEnabled: true, validatorUrl: null, syntaxHighlight: { activated: false }, displayRequestDuration: true,
    deepLinking: false, persistAuthorization: false, withCredentials: false,
  });
  new MutationObserver(nameSelects).observe(byId('swagger'), { childList: true, subtree: true });
  window.addEventListener('hashchange', showAddress);
  // The address is the group's: the link to the routes leaves it as it is.
  byId('skip').addEventListener('click', (event) => { event.preventDefault(); byId('routes').focus(); });
  byId('find').addEventListener('input', showFound);
  showAddress();
}

followScheme();
start().catch((fault: Error) => {
  byId('state').className = 'error';
  byId('state').textContent = `The routes cannot be shown: ${fault.message}. The document is at /openapi.json.`;
});
