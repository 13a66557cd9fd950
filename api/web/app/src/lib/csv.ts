// Texts that a spreadsheet may run as a formula; the cases are in tests/integration/operate/formula.def.
const FORMULA = /^(?:[\t\n\r]|[\p{White_Space}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/u;

/** A field of a CSV file. Spreadsheets run texts that begin like a formula: those get an apostrophe. Numbers stay as they are. */
export function field(value: string): string {
  const number = /^[-\u2212]?\d+(\.\d+)?$/.test(value);
  const safe = !number && FORMULA.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export const csv = (rows: string[][]) => rows.map((row) => row.map(field).join(',')).join('\r\n') + '\r\n';

export function download(name: string, text: string, type = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
