#!/usr/bin/env bash
# The dashboard's CSV marks texts that a spreadsheet may run: the cases of formula.def.
set -euo pipefail
app=$TIDE_SOURCE_DIR/build/dashboard
[ -d "$app/node_modules/typescript" ] || { echo "the dashboard is not built: tools/dashboard"; exit 77; }
cd "$app"
exec node --input-type=module - "$TIDE_SOURCE_DIR" <<'EOF'
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const source = process.argv[2];
const compiled = ts.transpile(readFileSync(`${source}/api/web/app/src/lib/csv.ts`, 'utf8'), { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 });
const { csv, field } = await import('data:text/javascript,' + encodeURIComponent(compiled));
const lines = readFileSync(`${source}/tests/integration/operate/formula.def`, 'utf8').split('\n');
const cases = lines.filter((line) => line.startsWith('TIDE_CSV_CASE(')).map((line) => JSON.parse(line.replace(/^TIDE_CSV_CASE\(/, '[').replace(/\)$/, ']')));
const numbers = [['-5', '-5'], ['\u22121.25', '\u22121.25'], ['1000', '1000']];
let wrong = 0;
for (const [text, wanted] of [...cases, ...numbers])
  if (field(text) !== wanted) {
    wrong++;
    console.error(`FAIL: ${JSON.stringify(text)} becomes ${JSON.stringify(field(text))}, not ${JSON.stringify(wanted)}`);
  }
if (cases.length < 30 || csv([['a', '\n=1'], ['2']]) !== 'a,"\'\n=1"\r\n2\r\n') wrong++;
console.log(`${cases.length} texts, ${numbers.length} numbers`);
process.exit(wrong ? 1 : 0);
EOF
