/** A field of a CSV file. Spreadsheets run texts that begin like a formula: those get an apostrophe. */
export function field(value: string): string {
  const number = /^[-−]?\d+(\.\d+)?$/.test(value);
  const safe = !number && /^[\s]*[=+\-@\t\r−]/.test(value) ? `'${value}` : value;
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
