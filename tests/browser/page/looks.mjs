// Helpers of the tests of pages: the browser, sizes, and functions that run inside a page.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

export const desktop = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };

/** A page has so long to reach a state: a busy machine takes its time. */
export const PATIENCE_MS = 240000;

export function launch(options = {}) {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
  return chromium.launch({ executablePath, args: process.getuid() === 0 ? ['--no-sandbox'] : [], ...options });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds on the page as it stands: a rule and the nodes that break it. */
export async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

/** Ratios of text against what is behind it, of every kind of text there is on the page. */
export function contrasts() {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const worst = {};
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const kind = `${node.tagName}.${node.className}`;
    worst[kind] = Math.min(worst[kind] ?? 99, ratio);
  }
  return worst;
}

/** What a screen reader could not name, and headings that skip a level. */
export function unnamed() {
  const faults = [];
  for (const node of document.querySelectorAll('input, select, textarea')) if (!node.labels.length) faults.push(node.outerHTML);
  for (const node of document.querySelectorAll('button, a, summary')) if (!node.textContent.trim() && !node.querySelector('img[alt]:not([alt=""])')) faults.push(node.outerHTML);
  let level = 0;
  for (const node of document.querySelectorAll('main h1, main h2, main h3, main h4')) {
    const now = Number(node.tagName[1]);
    if (level && now > level + 1) faults.push(`${node.outerHTML} after h${level}`);
    level = now;
  }
  const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
  faults.push(...ids.filter((id, i) => ids.indexOf(id) !== i));
  if (!document.documentElement.lang) faults.push('no language');
  return faults;
}
