import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

/** licenses.txt: each npm package whose code is in the bundle, with its licence and notice. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const roots = new Set<string>();
      for (const part of Object.values(bundle)) {
        if (part.type !== 'chunk') continue;
        for (const id of part.moduleIds) {
          const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replace(/^\0/, ''));
          if (found) roots.add(found[1]);
        }
      }
      const texts = [...roots].sort().map((root) => {
        const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
        const files = readdirSync(root).filter((file) => /^(licen[sc]e|notice|copying)/i.test(file));
        if (!about.license) this.error(`${about.name} names no licence`);
        const text = files.map((file) => readFileSync(join(root, file), 'utf8').trim()).join('\n\n');
        const from = about.repository?.url ?? about.repository ?? about.homepage ?? '';
        return `${about.name} ${about.version} (${about.license})\n${from}\n\n${text || `By ${about.author?.name ?? about.author ?? 'its authors'}; the package contains no licence file.`}\n`;
      });
      const head = 'Third-party packages in the dashboard of tidemark-api\n';
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: [head, ...texts].join(`\n${'-'.repeat(80)}\n\n`) });
    },
  };
}

/** Swagger UI's style without its pictures: they are data: URLs, which the pages' policy refuses. */
function withoutPictures(): Plugin {
  return {
    name: 'without-pictures',
    enforce: 'pre',
    transform: (code, id) => (id.includes('swagger-ui.css') ? code.replace(/url\((?:"data:[^"]*"|'data:[^']*'|data:[^)]*)\)/g, 'none') : null),
  };
}

/** uPlot makes a format of the browser's language when it is loaded, for texts that no chart here has. WebKitGTK says "C" where the system has no language, and no format takes that. */
function withoutLanguage(): Plugin {
  return {
    name: 'without-language',
    enforce: 'pre',
    transform: (code, id) => (id.includes('uPlot.esm.js') ? code.replace('nav.language', "'en-US'") : null),
  };
}

/** Reading the API of another server while the pages are developed: TIDEMARK_API_URL=… npx vite */
const api = process.env.TIDEMARK_API_URL ?? 'http://127.0.0.1:8080';
const here = dirname(fileURLToPath(import.meta.url));
if (!existsSync(join(here, 'index.html'))) throw new Error('run from the folder of index.html');

/** `vite build --mode console` builds the operator console apart, for a program of its own (api/console/). */
const forConsole = defineConfig({
  base: '/console/app/',
  plugins: [licences()],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    target: 'es2020', outDir: 'console', assetsDir: '.', assetsInlineLimit: 0, modulePreload: { polyfill: false },
    rollupOptions: { input: { console: 'console.html' } },
  },
});

const forApi = defineConfig({
  base: '/app/',
  plugins: [licences(), withoutPictures(), withoutLanguage()],
  // Stellar Wallets Kit keeps its state in signals; nothing of it is drawn.
  resolve: { alias: { '@preact/signals': '@preact/signals-core' } },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    target: 'es2020',
    assetsDir: '.',
    assetsInlineLimit: 0, // the policy allows no data: URL
    modulePreload: { polyfill: false },
    cssCodeSplit: true,
    chunkSizeWarningLimit: 1800, // Swagger UI, on /docs alone
    rollupOptions: {
      input: { index: 'index.html', docs: 'docs.html', wallet: 'src/kyc/wallet.ts', qr: 'src/kyc/qr.ts' },
      preserveEntrySignatures: 'exports-only',
      // /kyc, which is built without npm, imports these two by their names.
      output: { entryFileNames: (chunk) => (['wallet', 'qr'].includes(chunk.name) ? '[name].js' : '[name]-[hash].js') },
    },
  },
  server: { proxy: { '/api': api, '/docs': api, '/kyc': api, '/openapi.json': api, '/readyz': api } },
});

export default defineConfig(({ mode }) => (mode === 'console' ? forConsole : forApi));
